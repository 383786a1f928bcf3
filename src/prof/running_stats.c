#include "prof/running_stats.h"

#include "base/i64.h"
#include "base/rng.h"
#include "base/stats.h"

#include <math.h>

/* Reservoir sampling: the n-th value replaces a kept one with probability RUNNING_STATS_RESERVOIR /
 * n. The stream is a fixed one, so that the same durations give the same median. */
static void keep(RunningStats *stats, double value)
{
    if (stats->n <= RUNNING_STATS_RESERVOIR) {
        stats->kept[stats->n - 1] = value;
        return;
    }
    const int64_t place = rng_below(0, 0, (uint64_t)stats->n, stats->n);
    if (place < RUNNING_STATS_RESERVOIR) stats->kept[place] = value;
}

void running_stats_add(RunningStats *stats, double value)
{
    const double from_mean = value - stats->mean;
    if (stats->n++ == 0) stats->min = stats->max = value;
    stats->sum += value;
    stats->min = fmin(stats->min, value);
    stats->max = fmax(stats->max, value);
    stats->mean += from_mean / (double)stats->n;
    stats->squares += from_mean * (value - stats->mean);
    keep(stats, value);
}

double running_stats_quantile(const RunningStats *stats, double q)
{
    return stats_quantile(stats->kept, (int)i64_min(stats->n, RUNNING_STATS_RESERVOIR), q);
}

double running_stats_std(const RunningStats *stats)
{
    return stats->n > 1 ? sqrt(stats->squares / (double)(stats->n - 1)) : 0;
}
