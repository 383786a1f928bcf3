/* Elements by their number, row after row, whatever the distance between the rows: for the
 * references of elementwise ops. */
#pragma once

#include "ops/element.h"

static inline double elementwise_get(Operand x, int64_t i)
{
    return at(x, i / x.cols, i % x.cols);
}

static inline void elementwise_put(Operand x, int64_t i, double value)
{
    put(x, i / x.cols, i % x.cols, value);
}
