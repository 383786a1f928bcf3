#include "prof/running_stats.h"

#include "base/rng.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

/* Reservoir sampling: the n-th value replaces a kept one with probability TALLY_KEPT / n. The stream is
 * a fixed one, so that the same durations give the same median. */
static void keep(RunningStats *tally, double value)
{
    if (tally->n <= TALLY_KEPT) {
        tally->kept[tally->n - 1] = value;
        return;
    }
    const int64_t place = rng_below(0, 0, (uint64_t)tally->n, tally->n);
    if (place < TALLY_KEPT) tally->kept[place] = value;
}

Status running_stats_add(RunningStats *tally, double value)
{
    if (!tally->kept) {
        tally->kept = malloc(TALLY_KEPT * sizeof *tally->kept);
        if (!tally->kept) return NO_MEMORY("for durations");
        tally->min = tally->max = value;
    }
    const double from_mean = value - tally->mean;
    tally->n++;
    tally->sum += value;
    tally->min = fmin(tally->min, value);
    tally->max = fmax(tally->max, value);
    tally->mean += from_mean / (double)tally->n;
    tally->squares += from_mean * (value - tally->mean);
    keep(tally, value);
    return ST_OK;
}

void running_stats_free(RunningStats *tally)
{
    free(tally->kept);
    *tally = (RunningStats){0};
}

double running_stats_quantile(const RunningStats *tally, double q)
{
    return stats_quantile(tally->kept, (int)(tally->n < TALLY_KEPT ? tally->n : TALLY_KEPT), q);
}

double running_stats_std(const RunningStats *tally)
{
    return tally->n > 1 ? sqrt(tally->squares / (double)(tally->n - 1)) : 0;
}
