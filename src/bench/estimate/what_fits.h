/* What fits in a given memory: whether a step does, in which mode, and how far batch and context can be
 * raised. All from plans; nothing is allocated and no device is asked. */
#ifndef BENCH_ESTIMATE_WHAT_FITS_H
#define BENCH_ESTIMATE_WHAT_FITS_H

#include "bench/limits/placement.h"

#include <stdbool.h>
#include <stddef.h>

/* Of one limit, for one config. */
typedef struct WhatFits {
    size_t limit;
    size_t need; /* of the mode asked for, with what `--recompute auto` becomes within the limit */
    int64_t recomputed_blocks;
    size_t short_by;    /* bytes the mode asked for needs beyond it; 0 when it fits */
    int64_t most_batch; /* that fits in the mode asked for, ctx as it is; 0: none */
    int64_t most_ctx;   /* the same, batch as it is */
    Mode mode;          /* the largest that fits, at most the one asked for, */
    bool any;           /* if any does */
    bool fits;          /* the mode asked for does */
} WhatFits;

/* Bytes a process holds while it runs this mode, `held` of them before it starts: the same figure that
 * bench compares with what is there; with `--recompute auto`, the least it can do with. SIZE_MAX when the
 * step is larger than can be addressed. */
Status what_fits_need(const Config *config, const Placement *placement, Mode mode, size_t held,
                      size_t *need);

/* Fills the rest of each of the `n` whose limit is set. `need` has that of every mode up to
 * config->mode. */
Status what_fits(const Config *config, const Placement *placement, size_t held,
                 const size_t need[MODE_COUNT], WhatFits *fits, int n);

#endif
