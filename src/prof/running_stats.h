/* Durations as they come, in fixed memory: count, sum, extremes and spread are exact; of the first
 * TALLY_KEPT the median is too, of more it is that of a random TALLY_KEPT of them. */
#ifndef PROF_RUNNING_STATS_H
#define PROF_RUNNING_STATS_H

#include "base/status.h"

#include <stdint.h>

enum { TALLY_KEPT = 256 };

/* A zeroed one is empty. */
typedef struct RunningStats {
    int64_t n;
    double sum, min, max;
    double mean, squares; /* Welford: sum of squared distances from the mean */
    double *kept;         /* owned; NULL while empty */
} RunningStats;

Status running_stats_add(RunningStats *tally, double value);
void running_stats_free(RunningStats *tally);

/* NAN of an empty one; the std of fewer than two is 0, as nsys writes it. */
double running_stats_quantile(const RunningStats *tally, double q);
double running_stats_std(const RunningStats *tally);

#endif
