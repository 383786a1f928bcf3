/* What can be said of a cell's time before it runs. */
#ifndef BENCH_ESTIMATE_TIME_ESTIMATE_H
#define BENCH_ESTIMATE_TIME_ESTIMATE_H

#include "bench/limits/limits.h"
#include "bench/limits/placement.h"
#include "plan/plan.h"

/* Against the limits stored for this machine (`roofstep limits`); bench never measures them itself. */
typedef struct TimeEstimate {
    double peak_flops; /* per second, of products in that precision; NAN: not known */
    double
        roof_seconds; /* the least one step could take (bench/limits/roofline.h); NAN: not known */
    double bandwidth; /* bytes per second of memory, the largest measured; NAN: not known */
} TimeEstimate;

Status time_estimate_make(TimeEstimate *outlook, const Config *config, const Placement *placement,
                          const Plan *plan);
/* The same by given limits of a device with caches of so many bytes. */
TimeEstimate time_estimate_by(const Limits *limits, size_t cache, Precision precision,
                              const Plan *plan);

/* Seconds a whole cell will take, warm-up included: steps come to about four fifths of the roof.
 * NAN: not known. */
double time_estimate_cell_seconds(const TimeEstimate *outlook, const Config *config);

/* Warm-up and samples of one cell whose step takes so many seconds, cut short as the sampler does it. */
double time_estimate_steps_seconds(const Config *config, double step);

/* Where --sample-time cuts samples short: what the first step and the fewest samples take even at the
 * roof. NAN: not known, or nothing is cut. */
double time_estimate_least_seconds(const TimeEstimate *outlook, const Config *config);

/* FLOPs of one step by the formula of the model, without building its plan. */
double time_estimate_work(const Config *config);
/* How much longer than other cells this one takes, for the time that is left of a sweep: seconds by the limits
 * stored for this machine, or else by guesses, which only compare cells. */
double time_estimate_weight(const Config *config);
bool time_estimate_weight_is_known(const Config *config);

#endif
