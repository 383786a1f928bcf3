#include "prof/host_gaps.h"

void host_gaps_restart(HostGaps *gaps)
{
    gaps->begun = false;
}

static Status add_gap(HostGaps *gaps, const char *next, int64_t ns)
{
    const double seconds = (double)ns * 1e-9;
    if (gaps->seconds.n == 0 || seconds > gaps->seconds.max) {
        gaps->after = gaps->last;
        gaps->before = next;
    }
    return running_stats_add(&gaps->seconds, seconds);
}

Status host_gaps_add(HostGaps *gaps, const char *name, int64_t begin, int64_t end)
{
    if (gaps->begun && begin > gaps->end) TRY(add_gap(gaps, name, begin - gaps->end));
    if (!gaps->begun || end > gaps->end) {
        gaps->end = end;
        gaps->last = name;
    }
    gaps->begun = true;
    return ST_OK;
}

void host_gaps_free(HostGaps *gaps)
{
    running_stats_free(&gaps->seconds);
    *gaps = (HostGaps){0};
}
