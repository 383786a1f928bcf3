/* Sums over ranks. The order is fixed, rank 0 first, and a sum is rounded to its dtype once: the
 * bits are the same however an array is cut and whoever adds it up. */
#pragma once

#include "plan/plan.h"

/* to[i] = scale (x[0][i] + x[1][i] + ...) over `ranks` arrays of n elements, and the same to `also`
 * unless it is NULL. `to` may be one of the arrays; otherwise nothing overlaps. fp32, bf16, fp16, fp64. */
void rank_sum(void *to, void *also, const void *const *x, int ranks, int64_t n, DType dtype,
              float scale);
