/* What a cell that was not measured would take here, by what the same implementation reached in cells that were. */
#ifndef BENCH_ESTIMATE_ESTIMATE_H
#define BENCH_ESTIMATE_ESTIMATE_H

#include "bench/record/record.h"

/* A cell with its record; cells that did not run have none (NULL). */
typedef struct EstimateCell {
    const Config *config;
    const Record *record;
} EstimateCell;

/* `path` is forward.mean_ms, backward.mean_ms, optimizer.mean_ms, step.mean_ms or tokens_per_s. The nearest measured
 * cell with the same subject, exec, attention, precision and mode is scaled by FLOPs; where attention keeps its scores
 * in memory, by their bytes if those explain the nearest cells better. NAN: nothing to go by, or the cell's first
 * step is a sample, which no other cell tells. */
double estimate_figure(const char *path, const Config *wanted, const EstimateCell *cells, int n);

#endif
