/* What both passes of `flash` on a CPU share: a tile of queries and keys at a time, so that nothing of it
 * leaves the second-level cache, and memory grows with T and not with T^2. Causal tiles beyond the diagonal
 * are never computed. Only attention*_cpu.c include it.
 *
 * The products are those of our microkernels. Where the processor multiplies bf16, probabilities and their
 * gradients are rounded to it, as on a GPU. */
#ifndef OPS_CPU_ATTENTION_CPU_H
#define OPS_CPU_ATTENTION_CPU_H

#include "ops/cpu/head_rows_cpu.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/panels_cpu.h"

enum { ATTENTION_KEYS = 4 * MICROKERNEL_GRAIN, ATTENTION_MOST_QUERIES = MICROKERNEL_GRAIN };

/* Of a block: whole tiles, and whole groups where they are what is summed over. Fewer skip more beyond the
 * diagonal. */
static inline int64_t attention_queries(const Microkernel *kernel)
{
    int64_t n = kernel->rows;
    while (n < ATTENTION_MOST_QUERIES / 2 || n % kernel->depth) n += kernel->rows;
    return n;
}

static inline int64_t attention_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Keys that some query of rows [first, first + rows) sees. */
static inline int64_t attention_seen(const NodeAttr *attr, int64_t first, int64_t rows)
{
    return attr->causal ? first + rows : attr->tokens;
}

/* Of the `keys` keys from `key` on, those that are among the first `seen`. */
static inline int64_t attention_seen_here(int64_t seen, int64_t key, int64_t keys)
{
    return seen <= key ? 0 : attention_smaller(seen - key, keys);
}

/* A tile of floats as the kernel's operand: where they are, or rounded into `buffer`, rows ld apart. */
static inline const void *attention_operand(const Microkernel *kernel, const float *x, int64_t rows,
                                            int64_t width, int64_t ld, void *buffer)
{
    if (kernel->operand == DT_F32) return x;
    for (int64_t i = 0; i < rows; i++) {
        rows_cpu_store(rows_cpu_at(buffer, kernel->operand, i * ld), x + i * ld, kernel->operand,
                       width);
    }
    return buffer;
}

static inline void attention_store(const HeadMatrix *to, int64_t m, int64_t first, int64_t rows,
                                   const float *x, int64_t ld)
{
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = head_matrix_start(to, m) + (first + r) * to->ld;
        rows_cpu_store(rows_cpu_at(to->data, to->dtype, at), x + r * ld, to->dtype, to->cols);
    }
}

/* Where a part of a thread's workspace begins, the next one after it. */
static inline int64_t attention_after(int64_t *bytes, int64_t more)
{
    const int64_t at = *bytes;
    *bytes += more;
    return at;
}

#endif
