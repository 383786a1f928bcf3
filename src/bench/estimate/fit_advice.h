/* What to change so that a step fits: each change is tried by its plan. */
#pragma once

#include "bench/estimate/fit_search.h"

typedef struct FitAdvice {
    char s[160];
} FitAdvice;

/* Of a config that needs more than `limit` bytes. "--recompute auto, --batch 2 --accumulate 4 or --batch 2":
 * each of them alone is enough; "--recompute auto with --batch 2": both together are; "": nothing that is
 * tried is. */
Status fit_advice(const Config *config, const Placement *placement, size_t resident, size_t limit,
                  FitAdvice *out);
