/* What a matrix multiplication on a CPU is given: c = scale op(a) op(b) + bias, or c +=
 * that. */
#pragma once

#include "ops/element.h"

typedef struct GemmOperands {
    Operand c, a, b; /* without data: for the size of a workspace alone */
    bool transpose_a, transpose_b;
    float scale;
    bool accumulate;
    Operand bias; /* one row; without data: none */
} GemmOperands;

static inline int64_t gemm_operands_k(const GemmOperands *x)
{
    return x->transpose_a ? x->a.rows : x->a.cols;
}
