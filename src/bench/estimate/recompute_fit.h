/* `--recompute auto`: the least recomputation with which a step fits. */
#ifndef BENCH_ESTIMATE_RECOMPUTE_FIT_H
#define BENCH_ESTIMATE_RECOMPUTE_FIT_H

#include "bench/limits/placement.h"

#include <stddef.h>

/* Bytes the plan of this mode takes: regions and arena. */
Status recompute_fit_planned(const Config *config, const Placement *placement, Mode mode,
                             size_t *bytes);

/* `out` is the config with `auto` settled: nothing computed again where its plan is within `most` bytes,
 * otherwise as few blocks as are needed for that, and all where even they are not enough. */
Status recompute_fit(const Config *config, const Placement *placement, Mode mode, size_t most,
                     Config *out);

#endif
