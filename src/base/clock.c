#include "base/clock.h"

#include <time.h>

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

ClockText clock_utc(void)
{
    ClockText out = {""};
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(out.s, sizeof out.s, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}
