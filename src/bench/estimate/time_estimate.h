/* How long cells take, before they run. Three sources, the most exact first:
 *
 *   rows of other cells that were measured   time_estimate_from_rows()
 *   the plan and the limits of the machine   time_estimate_roofline(), time_estimate_from_roofline()
 *   the limits alone                         time_estimate_cell(): no plan is built, no device is opened */
#pragma once

#include "bench/limits/limits.h"
#include "bench/limits/placement.h"
#include "bench/record/record.h"
#include "plan/plan.h"

/* FLOPs of one step by the formula of the model, without building its plan. */
double time_estimate_flops(const Config *config);

/* ---- from the plan and the limits ---- */

/* Each is NAN where the limits are not known; `roofstep limits` measures and stores them. */
typedef struct TimeEstimate {
    double peak_flops;   /* per second, the largest rate of a matmul in that precision */
    double roof_seconds; /* no step is shorter (bench/limits/roofline.h) */
    double bandwidth;    /* bytes per second of memory, the largest rate measured */
    double busy; /* share of the device that others had while they were measured; NAN: hardly any */
} TimeEstimate;

/* By the limits of `machine`; NULL: by those stored for the device of the placement. */
TimeEstimate time_estimate_roofline(const Config *config, const Placement *placement,
                                    const Limits *machine, const Plan *plan);
/* Seconds of a whole cell, warm-up included, whose steps reach four fifths of the roof. */
double time_estimate_from_roofline(const TimeEstimate *estimate, const Config *config);
/* Where --sample-time ends samples early: seconds of the first step and the fewest samples at the
 * roof. NAN: not known, or nothing ends early. */
double time_estimate_minimum(const TimeEstimate *estimate, const Config *config);

/* ---- from the limits alone ---- */

typedef struct TimeEstimateRates {
    double flops[PRECISION_COUNT]; /* per second, as steps reach them; each above 0 */
    double bandwidth;              /* bytes per second */
    double start;                  /* seconds until the first step of a cell */
    bool known;                    /* from limits; false: guesses */
    bool gpu;
    bool bf16; /* false: an old GPU, which has no such precision */
} TimeEstimateRates;

/* A precision without a limit takes the slowest of the others. `limits` NULL: guesses. */
TimeEstimateRates time_estimate_rates(const Limits *limits);
/* Seconds of one cell, its start included; of several. */
double time_estimate_cell(const Config *config, const TimeEstimateRates *rates);
double time_estimate_cells(const Config *configs, int n, const TimeEstimateRates *rates);

/* The weight of a cell in a sweep's remaining time: seconds by the limits stored for this machine.
 * Where none are stored it is a guess that only compares cells, and time_estimate_weight_is_known()
 * is false. */
double time_estimate_weight(const Config *config);
bool time_estimate_weight_is_known(const Config *config);

/* ---- from rows of other cells ---- */

/* A cell with its record; NULL: the cell did not run. */
typedef struct TimeEstimateRow {
    const Config *config;
    const Record *record;
} TimeEstimateRow;

/* `path` is forward.mean_ms, backward.mean_ms, optimizer.mean_ms, step.mean_ms or tokens_per_s. The
 * nearest measured cell with the same subject, exec, attention, precision and mode is scaled by
 * FLOPs; where attention keeps its scores in memory, by their bytes if those explain the nearest
 * cells better. NAN: no such row, or the first step of the wanted cell is a sample, which no other
 * cell tells. */
double time_estimate_from_rows(const char *path, const Config *wanted, const TimeEstimateRow *rows,
                               int n);
