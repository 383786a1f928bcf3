/* Elementwise ops on the CPU. Threads process a shape in chunks of at most ROWS_CHUNK elements,
 * each within one row. A kernel computes one chunk in fp32, whatever the dtypes of the operands
 * are. */
#pragma once

#include "ops/cpu/operand_cpu.h"

typedef struct Chunk {
    int64_t row, col, n;
} Chunk;

typedef void ElementwiseKernel(const void *args, float *const out[], const float *const in[],
                               Chunk chunk);

enum { ELEMENTWISE_OUT = 3, ELEMENTWISE_IN = 3 };

typedef struct Elementwise {
    /* Operands without data are absent: kernels get NULL for them. An input with fewer rows than
     * the result repeats. */
    Operand out[ELEMENTWISE_OUT], in[ELEMENTWISE_IN];
    /* No operand has gaps between its rows: the shape is one long row, and short rows cost nothing. */
    bool flat;
    ElementwiseKernel *kernel;
    const void *args;
} Elementwise;

/* The first result and the first `n_in` inputs of the node, which all have one shape. */
Elementwise elementwise_cpu(const OpCall *call, int n_in, ElementwiseKernel *kernel,
                            const void *args);

/* Computes the results, which have the shape of out[0]. */
Status elementwise_cpu_run(const OpCall *call, const Elementwise *e);

/* Calls `body` for every chunk of the shape of `x`. */
typedef void ElementwiseBody(const void *context, Chunk chunk);
void elementwise_cpu_for_each(const OpCall *call, Operand x, bool flat, ElementwiseBody *body,
                              const void *context);

/* A case of a switch over functions: out[i] = result for all n elements. `out` may be an input: each
 * element is read before it is written. */
#define ELEMENTWISE_CASE(fn, out, result)                                      \
    case fn:                                                                   \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = (result); \
        break
