#include "exec/waiting.h"

#include "base/clock.h"
#include "exec/crowd.h"

#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#if defined __x86_64__
static const char *const turns = "1000"; /* 0.06 ms */
#elif defined __aarch64__
static const char *const turns = "30000"; /* 0.03 ms */
#else
static const char *const turns = NULL;
#endif

static const char setting[] = "GOMP_SPINCOUNT";
static const char mark[] = "ROOFSTEP_WAITS"; /* the setting is ours */
static const int64_t patience =
    20000000; /* one who works that long has more to do than the others */

/* The library has it; programs that this one starts are to wait as they like. */
static void forget(void)
{
    unsetenv(setting);
    unsetenv(mark);
}

static bool is_bound(void)
{
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) < omp_get_num_procs();
}

static bool user_has_chosen(void)
{
    return getenv("OMP_WAIT_POLICY") || getenv(setting) || is_bound();
}

void waiting_restart(char **argv)
{
    const bool started_so = getenv(mark);
    if (!started_so && (!turns || user_has_chosen())) return;
    if (!started_so && setenv(setting, turns, 1) == 0 && setenv(mark, turns, 1) == 0) {
        execv("/proc/self/exe", argv);
    }
    forget();
}

/* Leaves the core to the thread beside it for a moment. */
static void rest(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void waiting_awake(const int64_t *here, int64_t goal)
{
    const int64_t start = clock_nanoseconds();
    if (crowd_near(start)) return;
    while (__atomic_load_n(here, __ATOMIC_RELAXED) < goal && clock_nanoseconds() - start < patience)
        rest();
}

#if defined __GNUC__ && !defined __clang__
/* They are woken soon: on two cores a step takes half a percent longer where they wait awake. */
enum { FEW = 4 };

typedef void Body(void *data);

/* What threads do together. The library's own barriers order their memory: `here` only says when they are near. */
typedef struct Region {
    Body *body;
    void *data;
    int64_t here; /* threads that have come to a barrier, or to the end, so far */
} Region;

static _Thread_local Region *joined;

/* Every thread comes to every barrier: each is complete at the next multiple of their number. */
static void arrive(Region *region)
{
    const int64_t threads = omp_get_num_threads();
    const int64_t place = __atomic_add_fetch(&region->here, 1, __ATOMIC_RELAXED);
    if (threads <= FEW || threads > omp_get_num_procs()) return;
    waiting_awake(&region->here, (place + threads - 1) / threads * threads);
}

static void take_part(void *at)
{
    Region *const outer = joined, *const region = at;
    joined = region;
    region->body(region->data);
    arrive(region);
    joined = outer;
}

void __real_GOMP_parallel(Body *body, void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(Body *body, void *data, unsigned threads, unsigned flags);
void __real_GOMP_barrier(void);
void __wrap_GOMP_barrier(void);

void __wrap_GOMP_parallel(Body *body, void *data, unsigned threads, unsigned flags)
{
    Region region = {body, data, 0};
    __real_GOMP_parallel(take_part, &region, threads, flags);
}

void __wrap_GOMP_barrier(void)
{
    if (joined) arrive(joined);
    __real_GOMP_barrier();
}
#endif
