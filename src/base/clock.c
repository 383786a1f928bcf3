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

ClockText clock_utc(void)
{
    ClockText out = {""};
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(out.s, sizeof out.s, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}
