#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"
#include "plan/op_functions.h"

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

static void forward(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const NodeAttr *attr = args;
    apply(attr->fn, out[0], in[0], chunk.n, (float)attr->scale, (float)attr->shift);
}

static Status run(const OpCall *call)
{
    const Elementwise e = elementwise_cpu(call, 1, forward, &call->node->attr);
    return elementwise_cpu_run(call, &e);
}

static void backward(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const NodeAttr *attr = args;
    apply_grad(attr->fn, out[0], in[0], in[1], in[2], chunk.n, (float)attr->scale);
}

static Status run_grad(const OpCall *call)
{
    const Elementwise e = elementwise_cpu(call, 3, backward, &call->node->attr);
    return elementwise_cpu_run(call, &e);
}

const OpImpl unary_cpu[] = {{.name = "unary_cpu", .declines = rows_cpu_declines_f64, .run = run},
                            {0}};
const OpImpl unary_grad_cpu[] = {
    {.name = "unary_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_grad}, {0}};
