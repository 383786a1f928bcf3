#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/quick_math_cuda.cuh"
#include "ops/normal_tail.h"
#include "plan/op_functions.h"

struct UnaryFormula {
    int fn;
    float scale, shift;
};

__device__ __forceinline__ float sigmoid(float x)
{
    return 1.0F / (1.0F + expf(-x));
}

/* GELU is the activation of whole models: with divisions and exponentials to the last bit it would
 * take longer than its memory does. So both come from single instructions, off by a few units in the
 * last place, more where the result is far below x. */
constexpr float LOG2_E = 1.44269504F;

/* As vector_math_normal_distribution() of a CPU. */
__device__ __forceinline__ float normal_distribution(float x)
{
    const float t = quick_reciprocal(1.0F + 0.353553391F * fabsf(x));
    const float tail = 0.5F * t * quick_exp2(LOG2_E * (normal_tail_polynomial(t) - 0.5F * x * x));
    return x < 0 ? tail : 1.0F - tail;
}

/* (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) is the sigmoid of 2 u. */
__device__ __forceinline__ float gelu_tanh_share(float x)
{
    constexpr float slope = 1.5957691F * LOG2_E;
    return quick_reciprocal(1.0F + quick_exp2(-x * (slope + slope * 0.044715F * (x * x))));
}

#define EACH(result)                                               \
    _Pragma("unroll") for (int k = 0; k < FLAT_WIDTH; k++) result; \
    break

/* v = f(v) */
__device__ __forceinline__ void unary_apply(UnaryFormula f, float (&v)[FLAT_WIDTH])
{
    switch (f.fn) {
    case FN_AFFINE:
        EACH(v[k] = f.scale * v[k] + f.shift);
    case FN_SQUARE:
        EACH(v[k] *= v[k]);
    case FN_EXP:
        EACH(v[k] = expf(v[k]));
    case FN_LOG:
        EACH(v[k] = logf(v[k]));
    case FN_RSQRT:
        EACH(v[k] = rsqrtf(v[k]));
    case FN_SILU:
        EACH(v[k] *= sigmoid(v[k]));
    case FN_GELU_TANH:
        EACH(v[k] *= gelu_tanh_share(v[k]));
    case FN_GELU_ERF:
        EACH(v[k] *= normal_distribution(v[k]));
    default:
        break;
    }
}

__device__ __forceinline__ float silu_derivative(float x)
{
    const float s = sigmoid(x);
    return s * (1.0F + x * (1.0F - s));
}

/* Beyond 16 it is 0 or 1; squares of huge numbers would make it 0 times infinity. */
__device__ __forceinline__ float gelu_tanh_derivative(float any)
{
    const float above = any < -16.0F ? -16.0F : any, x = above > 16.0F ? 16.0F : above;
    const float s = gelu_tanh_share(x);
    return s + x * s * (1.0F - s) * 1.5957691F * (1.0F + 0.134145F * x * x);
}

__device__ __forceinline__ float gelu_erf_derivative(float x)
{
    return normal_distribution(x) + x * 0.3989423F * quick_exp2(-0.5F * LOG2_E * x * x);
}

/* d = d f'; `s` is x or y, whichever the derivative is written with. */
__device__ __forceinline__ void unary_apply_grad(UnaryFormula f, float (&d)[FLAT_WIDTH],
                                                 const float (&s)[FLAT_WIDTH])
{
    switch (f.fn) {
    case FN_AFFINE:
        EACH(d[k] *= f.scale);
    case FN_SQUARE:
        EACH(d[k] *= 2.0F * s[k]);
    case FN_EXP:
        EACH(d[k] *= s[k]);
    case FN_LOG:
        EACH(d[k] /= s[k]);
    case FN_RSQRT:
        EACH(d[k] *= -0.5F * s[k] * s[k] * s[k]);
    case FN_SILU:
        EACH(d[k] *= silu_derivative(s[k]));
    case FN_GELU_TANH:
        EACH(d[k] *= gelu_tanh_derivative(s[k]));
    case FN_GELU_ERF:
        EACH(d[k] *= gelu_erf_derivative(s[k]));
    default:
        break;
    }
}

/* y may be x. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS) unary_kernel(Y y, X x, int64_t n, UnaryFormula f)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) read_vector(v[p], x, vector_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        unary_apply(f, v[p]);
        write_vector(y, vector_start(p), n, v[p]);
    }
}

/* dx may be dy. `saved` is not read where the derivative does not need it. */
template <typename DX, typename DY, typename S>
__global__ void __launch_bounds__(FLAT_THREADS)
    unary_grad_kernel(DX dx, DY dy, S saved, int64_t n, UnaryFormula f)
{
    float d[FLAT_VECTORS][FLAT_WIDTH], s[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        read_vector(d[p], dy, vector_start(p), n);
        if (f.fn != FN_AFFINE) read_vector(s[p], saved, vector_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        unary_apply_grad(f, d[p], s[p]);
        write_vector(dx, vector_start(p), n, d[p]);
    }
}

static UnaryFormula formula(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    return {attr->fn, (float)attr->scale, (float)attr->shift};
}

Status unary_cuda_run(const OpCall *call)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    const auto launch = [=](auto y, auto x) {
        unary_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, formula(call));
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}

/* The input that the derivative is written with; dy stands in where there is none. */
static int saved_input(int fn)
{
    switch (fn) {
    case FN_SQUARE:
    case FN_LOG:
    case FN_SILU:
    case FN_GELU_TANH:
    case FN_GELU_ERF:
        return 1;
    case FN_EXP:
    case FN_RSQRT:
        return 2;
    default:
        return 0;
    }
}

Status unary_grad_cuda_run(const OpCall *call)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    const int saved_at = saved_input(call->node->attr.fn);
    const auto launch = [=](auto dx, auto dy, auto saved) {
        unary_grad_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            dx, dy, saved, n, formula(call));
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0),
                              in_ref(call, saved_at));
}
