/* What both passes of `flash` on a CPU share: a tile of queries and keys at a time, so that nothing
 * of it leaves the second-level cache, and memory grows with T and not with T^2. Causal tiles
 * beyond the diagonal, and those before the sliding window, are never computed. Only attention*_cpu.c
 * include it.
 *
 * Our microkernels multiply the tiles. Where the CPU multiplies bf16, probabilities and their
 * gradients are rounded to it, as on a GPU. */
#pragma once

#include "base/i64.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/gemm_cpu/panels_cpu.h"
#include "ops/head_matrix.h"
#include "ops/visible_keys.h"

enum { ATTENTION_KEYS = 4 * MICROKERNEL_UNIT, ATTENTION_MOST_QUERIES = MICROKERNEL_UNIT };

/* Queries of a block: whole tiles of the microkernel, and whole groups of k where the sum runs over
 * queries. Smaller blocks skip more beyond the diagonal. */
static inline int64_t attention_queries(const Microkernel *kernel)
{
    int64_t n = kernel->mr;
    while (n < ATTENTION_MOST_QUERIES / 2 || n % kernel->kr) n += kernel->mr;
    return n;
}

/* One past the last key that is visible to some query of rows [first, first + rows); the first one
 * is visible_keys_first() of row `first`. */
static inline int64_t attention_visible(const NodeAttr *attr, int64_t first, int64_t rows)
{
    return visible_keys_end(attr, first + rows - 1, attr->tokens);
}

/* Of the `keys` keys from `key` on, how many are among the first `visible` of all. */
static inline int64_t attention_visible_here(int64_t visible, int64_t key, int64_t keys)
{
    return visible <= key ? 0 : i64_min(visible - key, keys);
}

/* A tile of floats as the kernel's operand: in place, or rounded into `buffer`, rows ld apart. */
static inline Operand attention_operand(const Microkernel *kernel, float *x, int64_t rows,
                                        int64_t width, int64_t ld, void *buffer)
{
    const bool in_place = kernel->operand == DT_F32;
    const Operand to = {in_place ? x : buffer, kernel->operand, rows, width, ld};
    for (int64_t i = 0; !in_place && i < rows; i++)
        rows_cpu_store(operand_cpu_at(to, i, 0), x + i * ld, to.dtype, width);
    return to;
}

/* Rounds `rows` rows into matrix `m` from row `first` on. */
static inline void attention_store(const HeadMatrix *matrices, int64_t m, int64_t first,
                                   int64_t rows, const float *x, int64_t ld)
{
    const Operand to = head_matrix_operand(matrices, m, first);
    for (int64_t r = 0; r < rows; r++)
        rows_cpu_store(operand_cpu_at(to, r, 0), x + r * ld, to.dtype, to.cols);
}

/* Reserves `bytes` at the end of a workspace layout that has `*end` bytes so far, and returns where
 * they begin. */
static inline int64_t attention_reserve(int64_t *end, int64_t bytes)
{
    const int64_t at = *end;
    *end += bytes;
    return at;
}

static inline float *attention_floats(char *workspace, int64_t at)
{
    return (float *)(void *)(workspace + at);
}
