/* Elementwise passes on the CPU: a shape cut into spans of at most ROWS_CHUNK elements, each within
 * one row. Where no operand has gaps between its rows, the shape is taken as one long row, so that
 * short rows cost nothing. Only files named *_cpu.c include it. */
#ifndef OPS_CPU_ELEMENTWISE_CPU_H
#define OPS_CPU_ELEMENTWISE_CPU_H

#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"

typedef struct Spans {
    int64_t cols, per_row, count;
    bool flat; /* one long row */
} Spans;

typedef struct Span {
    int64_t row, col, n;
} Span;

static inline Spans elementwise_cpu_make(int64_t rows, int64_t cols, bool flat)
{
    const int64_t width = flat ? rows * cols : cols;
    const int64_t per_row = (width + ROWS_CHUNK - 1) / ROWS_CHUNK;
    return (Spans){width, per_row, per_row * (flat ? 1 : rows), flat};
}

/* Over the shape of `x`; all operands of the node have that shape. */
static inline Spans elementwise_cpu_over(const OpCall *call, const Tensor *x)
{
    bool flat = true;
    for (int i = 0; i < call->node->n_out; i++) {
        const Tensor *t = op_out_shape(call, i);
        flat = flat && (!t || plan_contiguous(t));
    }
    for (int i = 0; i < call->node->n_in; i++) {
        const Tensor *t = op_in_shape(call, i);
        flat = flat && (!t || plan_contiguous(t));
    }
    return elementwise_cpu_make(plan_rows(x), plan_width(x), flat);
}

static inline Span elementwise_cpu_at(const Spans *spans, int64_t i)
{
    const int64_t row = i / spans->per_row, col = i % spans->per_row * ROWS_CHUNK;
    const int64_t left = spans->cols - col;
    return (Span){row, col, left < ROWS_CHUNK ? left : ROWS_CHUNK};
}

static inline void *elementwise_cpu_address(Operand x, Span span)
{
    return rows_cpu_at(x.data, x.dtype, span.row * x.ld + span.col);
}

/* The span's numbers as floats: where they are, or widened into `buffer`. */
static inline const float *elementwise_cpu_read(Operand x, Span span, float *buffer)
{
    return rows_cpu_read(elementwise_cpu_address(x, span), x.dtype, span.n, buffer);
}

/* Where to compute the span, and afterwards: round it from there into place. */
static inline float *elementwise_cpu_target(Operand x, Span span, float *buffer)
{
    return rows_cpu_target(elementwise_cpu_address(x, span), x.dtype, buffer);
}

static inline void elementwise_cpu_finish(Operand x, Span span, const float *computed)
{
    rows_cpu_finish(elementwise_cpu_address(x, span), x.dtype, span.n, computed);
}

#endif
