/* How long the cells of a command will take, from the limits alone. No plan is made and no device asked: hundreds of cells are weighed at once. */
#ifndef BENCH_ESTIMATE_SUITE_COST_H
#define BENCH_ESTIMATE_SUITE_COST_H

#include "bench/limits/limits.h"

typedef struct SuiteRates {
    double flops[PRECISION_COUNT]; /* per second, as steps reach them; each above 0 */
    double bandwidth;              /* bytes per second */
    double start;                  /* seconds until a cell's first step */
    bool gpu;
    bool bf16; /* there is such a precision: a CPU computes in any, an old GPU does not */
} SuiteRates;

/* What a step reaches of the limits. A precision that has none takes the slowest of the others, and where
 * nothing was measured (`limits` NULL) guesses stand in. */
SuiteRates suite_cost_rates(const Limits *limits);

/* Seconds of one cell, its start included. */
double suite_cost_cell(const Config *config, const SuiteRates *rates);
double suite_cost_cells(const Config *configs, int n, const SuiteRates *rates);

#endif
