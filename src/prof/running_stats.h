/* Durations as they come, in fixed memory: count, sum, extremes and spread are exact; of the first
 * RUNNING_STATS_RESERVOIR the median is too, of more it is that of a random RUNNING_STATS_RESERVOIR
 * of them. */
#pragma once

#include <stdint.h>

enum { RUNNING_STATS_RESERVOIR = 256 };

/* A zeroed one is empty. */
typedef struct RunningStats {
    int64_t n;
    double sum, min, max;
    double mean, squares; /* Welford: sum of squared distances from the mean */
    double kept[RUNNING_STATS_RESERVOIR];
} RunningStats;

void running_stats_add(RunningStats *stats, double value);

/* NAN of an empty one; the std of fewer than two is 0, as nsys writes it. */
double running_stats_quantile(const RunningStats *stats, double q);
double running_stats_std(const RunningStats *stats);
