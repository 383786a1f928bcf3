/* How a small operand y goes with a large one x, element i of x meeting element broadcasting_index(i) of
 * y: one for one, one per row of x, or over and over. A single element goes with everything. */
#pragma once

#include "plan/plan.h"

typedef enum Broadcasting {
    BROADCAST_NONE,   /* one for one */
    BROADCAST_COLUMN, /* y is [.., 1] and has as many rows as x */
    BROADCAST_PERIOD, /* the elements of y divide those of x */
    BROADCAST_MISFIT,
} Broadcasting;

static inline Broadcasting broadcasting_of(const Tensor *x, const Tensor *y)
{
    const int64_t n = plan_elements(y);
    if (n == plan_elements(x)) return BROADCAST_NONE;
    if (plan_width(y) == 1 && n == plan_rows(x)) return BROADCAST_COLUMN;
    return plan_elements(x) % n == 0 ? BROADCAST_PERIOD : BROADCAST_MISFIT;
}

static inline int64_t broadcasting_index(Broadcasting how, int64_t i, int64_t width, int64_t period)
{
    if (how == BROADCAST_NONE) return i;
    return how == BROADCAST_COLUMN ? i / width : i % period;
}
