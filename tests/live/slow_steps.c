/* A library to preload (LD_PRELOAD): the steps of a program really take SLOW_STEPS_PERCENT longer.
 *
 * A cell reads the clock around its steps and phases. Each reading first works for that share of the time
 * since the one before. The process that starts cells is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int Clock(clockid_t, struct timespec *);

static Clock *real;
static double share;
static pid_t first;

__attribute__((constructor)) static void begin(void)
{
    const char *percent = getenv("SLOW_STEPS_PERCENT");
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    share = percent ? atof(percent) / 100 : 0;
    first = getpid();
}

static double now(void)
{
    struct timespec t;
    real(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    static __thread double last;
    if (id == CLOCK_MONOTONIC && share > 0 && getpid() != first) {
        const double began = now(), end = began + share * (began - last);
        while (last > 0 && now() < end) continue;
        last = now();
    }
    return real(id, t);
}
