/* Part of a row of an operand as floats: n elements from (row, col) on. fp32 is used in place;
 * 16-bit dtypes are widened into a buffer and rounded back from it. */
#pragma once

#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"

static inline void *operand_cpu_at(Operand x, int64_t row, int64_t col)
{
    return rows_cpu_at(x.data, x.dtype, row * x.ld + col);
}

static inline const float *operand_cpu_read(Operand x, int64_t row, int64_t col, int64_t n,
                                            float *buffer)
{
    return rows_cpu_read(operand_cpu_at(x, row, col), x.dtype, n, buffer);
}

/* Where to compute the elements; operand_cpu_finish() rounds them from there into place. */
static inline float *operand_cpu_target(Operand x, int64_t row, int64_t col, float *buffer)
{
    return rows_cpu_target(operand_cpu_at(x, row, col), x.dtype, buffer);
}

static inline void operand_cpu_finish(Operand x, int64_t row, int64_t col, int64_t n,
                                      const float *computed)
{
    rows_cpu_finish(operand_cpu_at(x, row, col), x.dtype, n, computed);
}
