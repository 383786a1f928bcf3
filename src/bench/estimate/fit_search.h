/* How far batch and context can be raised within a given memory. All from plans; no device is opened. */
#pragma once

#include "bench/limits/placement.h"

#include <stdbool.h>
#include <stddef.h>

/* One config within one limit, in bytes. */
typedef struct FitLimit {
    size_t limit;
    size_t
        need; /* of the mode asked for, with the recomputation that `auto` chooses within the limit */
    int64_t recomputed_blocks;
    size_t short_by;    /* bytes that the mode asked for lacks; 0 when it fits */
    int64_t most_batch; /* the largest that fits in the mode asked for, ctx unchanged; 0: none */
    int64_t most_ctx;   /* the largest that fits, batch unchanged; 0: none */
    Mode mode;          /* the largest that fits, at most the one asked for */
    bool any;           /* false: no mode fits */
    bool fits;          /* the mode asked for fits */
} FitLimit;

/* Bytes a process holds while it runs this mode, `resident` of them before it starts; with
 * `--recompute auto` the fewest possible. SIZE_MAX: the step is larger than can be addressed. */
Status fit_search_need(const Config *config, const Placement *placement, Mode mode, size_t resident,
                       size_t *need);

/* Fills the rest of each of the `n` whose limit is set. `need` has the bytes of every mode up to
 * config->mode. */
Status fit_search(const Config *config, const Placement *placement, size_t resident,
                  const size_t need[MODE_COUNT], FitLimit *fits, int n);
