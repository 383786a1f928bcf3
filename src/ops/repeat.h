/* How a small operand y goes with a large one x, element i of x meeting element repeat_index(i) of
 * y: one for one, one per row of x, or over and over. A single element goes with everything. */
#ifndef OPS_REPEAT_H
#define OPS_REPEAT_H

#include "plan/plan.h"

typedef enum Repeat {
    REPEAT_NONE,   /* one for one */
    REPEAT_IN_ROW, /* y is [.., 1] and has as many rows as x */
    REPEAT_PERIOD, /* the elements of y divide those of x */
    REPEAT_UNFIT,
} Repeat;

static inline Repeat repeat_of(const Tensor *x, const Tensor *y)
{
    const int64_t n = plan_elements(y);
    if (n == plan_elements(x)) return REPEAT_NONE;
    if (plan_width(y) == 1 && n == plan_rows(x)) return REPEAT_IN_ROW;
    return plan_elements(x) % n == 0 ? REPEAT_PERIOD : REPEAT_UNFIT;
}

static inline int64_t repeat_index(Repeat how, int64_t i, int64_t width, int64_t period)
{
    if (how == REPEAT_NONE) return i;
    return how == REPEAT_IN_ROW ? i / width : i % period;
}

#endif
