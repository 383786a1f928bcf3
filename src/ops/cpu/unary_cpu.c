#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"
#include "plan/op_functions.h"

#include <math.h>

/* (1 + tanh(u)) / 2 is the sigmoid of 2 u: this is 2 u. */
static inline float gelu_inner(float x)
{
    return 1.5957691F * (x + 0.044715F * x * x * x);
}

CPU_CLONES static void apply(int fn, float *y, const float *x, int64_t n, float scale, float shift)
{
    switch (fn) {
        ELEMENTWISE_CASE(FN_AFFINE, y, scale * x[i] + shift);
        ELEMENTWISE_CASE(FN_SQUARE, y, x[i] * x[i]);
        ELEMENTWISE_CASE(FN_EXP, y, vector_math_exp(x[i]));
        ELEMENTWISE_CASE(FN_LOG, y, logf(x[i]));
        ELEMENTWISE_CASE(FN_RSQRT, y, 1.0F / sqrtf(x[i]));
        ELEMENTWISE_CASE(FN_SILU, y, x[i] * vector_math_sigmoid(x[i]));
        ELEMENTWISE_CASE(FN_GELU_TANH, y, x[i] * vector_math_sigmoid(gelu_inner(x[i])));
        ELEMENTWISE_CASE(FN_GELU_ERF, y, x[i] * vector_math_normal_distribution(x[i]));
    default:
        break;
    }
}

static inline float silu_slope(float x)
{
    const float s = vector_math_sigmoid(x);
    return s * (1.0F + x * (1.0F - s));
}

/* Beyond 16 the slope is 0 or 1; squares of huge numbers would make it 0 times infinity. */
static inline float gelu_tanh_slope(float any)
{
    const float above = any < -16.0F ? -16.0F : any, x = above > 16.0F ? 16.0F : above;
    const float s = vector_math_sigmoid(gelu_inner(x));
    return s + x * s * (1.0F - s) * 1.5957691F * (1.0F + 0.134145F * x * x);
}

static inline float gelu_erf_slope(float x)
{
    return vector_math_normal_distribution(x) + x * 0.3989423F * vector_math_exp(-0.5F * x * x);
}

/* x or y is NULL where the function's slope does not need it. */
CPU_CLONES static void apply_grad(int fn, float *dx, const float *dy, const float *x,
                                  const float *y, int64_t n, float scale)
{
    switch (fn) {
        ELEMENTWISE_CASE(FN_AFFINE, dx, scale * dy[i]);
        ELEMENTWISE_CASE(FN_SQUARE, dx, 2.0F * x[i] * dy[i]);
        ELEMENTWISE_CASE(FN_EXP, dx, y[i] * dy[i]);
        ELEMENTWISE_CASE(FN_LOG, dx, dy[i] / x[i]);
        ELEMENTWISE_CASE(FN_RSQRT, dx, -0.5F * y[i] * y[i] * y[i] * dy[i]);
        ELEMENTWISE_CASE(FN_SILU, dx, silu_slope(x[i]) * dy[i]);
        ELEMENTWISE_CASE(FN_GELU_TANH, dx, gelu_tanh_slope(x[i]) * dy[i]);
        ELEMENTWISE_CASE(FN_GELU_ERF, dx, gelu_erf_slope(x[i]) * dy[i]);
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
