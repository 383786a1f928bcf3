#include "exec/waiting.h"

#include "backend/cpu_places.h"
#include "backend/cpu_threads.h"
#include "base/clock.h"
#include "exec/cpu_contention.h"

#include <omp.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* So many threads are woken soon: on two cores a step takes half a percent longer where they wait awake. */
enum { FEW = 4 };

#if defined ROOFSTEP_WRAPS_GOMP && defined __x86_64__
static const char turns[] = "1000"; /* 0.06 ms */
#elif defined ROOFSTEP_WRAPS_GOMP && defined __aarch64__
static const char turns[] = "30000"; /* 0.03 ms */
#else
static const char turns[] = "";
#endif

static const char setting[] = "GOMP_SPINCOUNT";
static const char mark[] = "ROOFSTEP_WAITS"; /* the setting is ours */
/* One who works 20 ms longer has more to do than the others. */
static const int64_t patience = 20000000;

/* The library has it; programs that this one starts are to wait as they like. */
static void forget(void)
{
    unsetenv(setting);
    unsetenv(mark);
}

static bool user_has_chosen(void)
{
    return getenv("OMP_WAIT_POLICY") || (getenv(setting) && !getenv(mark));
}

void waiting_restart(char **argv)
{
    const bool started_so = getenv(mark);
    if (!started_so && (!*turns || user_has_chosen())) return;
    if (!started_so && setenv(setting, turns, 1) == 0 && setenv(mark, turns, 1) == 0) {
        cpu_places_unbind();
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
    int64_t now = clock_nanoseconds();
    const int64_t end = now + patience;
    while (!cpu_contention_near(now) && now < end &&
           __atomic_load_n(here, __ATOMIC_RELAXED) < goal) {
        rest();
        now = clock_nanoseconds();
    }
}

/* Every thread comes to every barrier: each is complete at the next multiple of their number. */
int64_t waiting_goal(int64_t place, int64_t threads)
{
    return (place + threads - 1) / threads * threads;
}

bool waiting_pays(int threads, int processors)
{
    return threads > FEW && threads <= processors;
}

#if defined ROOFSTEP_WRAPS_GOMP
typedef void Body(void *data);

/* What threads do together. The library's own barriers order their memory: `here` only says when they are near. */
typedef struct Region {
    Body *body;
    void *data;
    int processors;
    int64_t here; /* threads that have come to a barrier, or to the end, so far */
} Region;

static _Thread_local Region *joined;
static bool as_the_user_has_chosen;

/* The environment as the library found it. */
__attribute__((constructor)) static void note_choice(void)
{
    as_the_user_has_chosen = user_has_chosen();
}

static void arrive(Region *region)
{
    const int threads = omp_get_num_threads();
    if (!waiting_pays(threads, region->processors)) return;
    const int64_t place = __atomic_add_fetch(&region->here, 1, __ATOMIC_RELAXED);
    waiting_awake(&region->here, waiting_goal(place, threads));
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
    Region region = {body, data, as_the_user_has_chosen ? 0 : cpu_threads_processors(), 0};
    __real_GOMP_parallel(take_part, &region, threads, flags);
}

void __wrap_GOMP_barrier(void)
{
    if (joined) arrive(joined);
    __real_GOMP_barrier();
}
#endif
