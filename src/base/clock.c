#include "base/clock.h"

#include <time.h>

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_seconds(void)
{
    return (double)nanoseconds(CLOCK_MONOTONIC) * 1e-9;
}

int64_t clock_nanoseconds(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

int64_t clock_epoch_nanoseconds(void)
{
    return nanoseconds(CLOCK_REALTIME);
}

/* Who loses its processor between two looks tries again: the closest of a few counts. */
int64_t clock_epoch_of(int64_t at)
{
    enum { TRIES = 16 };
    int64_t closest = INT64_MAX, ahead = 0;
    for (int i = 0; i < TRIES; i++) {
        const int64_t before = clock_nanoseconds(), epoch = clock_epoch_nanoseconds();
        const int64_t took = clock_nanoseconds() - before;
        if (took >= closest) continue;
        closest = took;
        ahead = epoch - before - took / 2;
    }
    return at + ahead;
}

ClockText clock_utc(void)
{
    ClockText out = {""};
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(out.s, sizeof out.s, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}
