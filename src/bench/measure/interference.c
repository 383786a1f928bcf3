#include "bench/measure/interference.h"

#include <sys/resource.h>
#include <unistd.h>

static double own_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

Interference interference_now(void)
{
    Interference now = {.own = own_seconds()};
    if (cpu_info_ticks(&now.ticks, "") != ST_OK) now.ticks = (CpuTicks){0};
    return now;
}

/* Others: neither idle nor this process. */
InterferenceShares interference_between(const Interference *then, const Interference *now)
{
    const double per_second = (double)sysconf(_SC_CLK_TCK);
    const double total = (double)(now->ticks.total - then->ticks.total);
    if (total <= 0) return (InterferenceShares){0};
    const double idle = (double)(now->ticks.idle - then->ticks.idle);
    const double steal = (double)(now->ticks.steal - then->ticks.steal);
    const double others = total - idle - steal - (now->own - then->own) * per_second;
    return (InterferenceShares){.steal = steal > 0 ? steal / total : 0,
                                .others = others > 0 ? others / total : 0,
                                .seconds = total / per_second};
}

InterferenceShares interference_since(const Interference *then)
{
    const Interference now = interference_now();
    return interference_between(then, &now);
}
