#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"
#include "plan/functions.h"

#include <math.h>

/* y may be x: each element is read before it is written. */
#define EACH(result)                                            \
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) result; \
    break

CPU_CLONES static void apply(int fn, float *y, const float *x, int64_t n, float scale, float shift)
{
    switch (fn) {
    case FN_AFFINE:
        EACH(y[i] = scale * x[i] + shift);
    case FN_SQUARE:
        EACH(y[i] = x[i] * x[i]);
    case FN_EXP:
        EACH(y[i] = vector_math_exp(x[i]));
    case FN_LOG:
        EACH(y[i] = logf(x[i]));
    case FN_RSQRT:
        EACH(y[i] = 1.0F / sqrtf(x[i]));
    case FN_SILU:
        EACH(y[i] = x[i] * vector_math_sigmoid(x[i]));
    default:
        break;
    }
}

static inline float silu_slope(float x)
{
    const float s = vector_math_sigmoid(x);
    return s * (1.0F + x * (1.0F - s));
}

/* x or y is NULL where the function's slope does not need it. */
CPU_CLONES static void apply_grad(int fn, float *dx, const float *dy, const float *x,
                                  const float *y, int64_t n, float scale)
{
    switch (fn) {
    case FN_AFFINE:
        EACH(dx[i] = scale * dy[i]);
    case FN_SQUARE:
        EACH(dx[i] = 2.0F * x[i] * dy[i]);
    case FN_EXP:
        EACH(dx[i] = y[i] * dy[i]);
    case FN_LOG:
        EACH(dx[i] = dy[i] / x[i]);
    case FN_RSQRT:
        EACH(dx[i] = -0.5F * y[i] * y[i] * y[i] * dy[i]);
    case FN_SILU:
        EACH(dx[i] = silu_slope(x[i]) * dy[i]);
    default:
        break;
    }
}

static void run_span(const NodeAttr *attr, Operand y, Operand x, Span span)
{
    float in[ROWS_CHUNK], out[ROWS_CHUNK];
    float *target = elementwise_cpu_target(y, span, out);
    apply(attr->fn, target, elementwise_cpu_read(x, span, in), span.n, (float)attr->scale,
          (float)attr->shift);
    elementwise_cpu_finish(y, span, target);
}

static Status run(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Spans spans = elementwise_cpu_over(call, op_in_shape(call, 0));
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) {
        run_span(&call->node->attr, y, x, elementwise_cpu_at(&spans, i));
    }
    return ST_OK;
}

static void grad_span(const NodeAttr *attr, Operand dx, Operand dy, Operand x, Operand y, Span span)
{
    float in[3][ROWS_CHUNK], out[ROWS_CHUNK];
    float *target = elementwise_cpu_target(dx, span, out);
    apply_grad(attr->fn, target, elementwise_cpu_read(dy, span, in[0]),
               x.data ? elementwise_cpu_read(x, span, in[1]) : NULL,
               y.data ? elementwise_cpu_read(y, span, in[2]) : NULL, span.n, (float)attr->scale);
    elementwise_cpu_finish(dx, span, target);
}

static Status run_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), dy = element_in(call, 0);
    const Operand x = element_in(call, 1), y = element_in(call, 2);
    const Spans spans = elementwise_cpu_over(call, op_in_shape(call, 0));
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) {
        grad_span(&call->node->attr, dx, dy, x, y, elementwise_cpu_at(&spans, i));
    }
    return ST_OK;
}

const OpImpl unary_cpu[] = {{.name = "unary_cpu", .declines = rows_cpu_declines_f64, .run = run},
                            {0}};
const OpImpl unary_grad_cpu[] = {
    {.name = "unary_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_grad}, {0}};
