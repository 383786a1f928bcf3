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

/* ---- GELU without gaps: 16 bytes at a time, and a kernel for each of its forms ---- */

enum { GELU_VECTORS = 2 };

template <bool ERF> __device__ __forceinline__ float gelu(float x)
{
    return x * (ERF ? normal_distribution(x) : gelu_tanh_share(x));
}

template <bool ERF> __device__ __forceinline__ float gelu_derivative(float x)
{
    return ERF ? gelu_erf_derivative(x) : gelu_tanh_derivative(x);
}

/* out = GELU(x), or dy times its derivative; out may be x or dy. All vectors of a thread are on their
 * way before the first is used. */
template <typename A, bool ERF, bool BACKWARD>
__global__ void __launch_bounds__(FLAT_THREADS)
    gelu_kernel(A *out, const A *x, const A *dy, int64_t vectors)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t first = (int64_t)blockIdx.x * GELU_VECTORS * FLAT_THREADS + threadIdx.x;
    Vector<A, W> a[GELU_VECTORS], d[GELU_VECTORS];
#pragma unroll
    for (int p = 0; p < GELU_VECTORS; p++) {
        const int64_t at = first + p * FLAT_THREADS;
        if (at < vectors) load_raw(a[p], x + at * W);
        if (BACKWARD && at < vectors) load_raw(d[p], dy + at * W);
    }
#pragma unroll
    for (int p = 0; p < GELU_VECTORS; p++) {
        const int64_t at = first + p * FLAT_THREADS;
        if (at >= vectors) return;
        float v[W], flow[W];
        widen(v, a[p]);
        if constexpr (BACKWARD) widen(flow, d[p]);
#pragma unroll
        for (int k = 0; k < W; k++)
            v[k] = BACKWARD ? flow[k] * gelu_derivative<ERF>(v[k]) : gelu<ERF>(v[k]);
        store_vector(out + at * W, v);
    }
}

/* Every operand is contiguous and of one dtype, begins aligned and is whole vectors long. */
static bool takes_gelu_vectors(const OpCall *call)
{
    const int fn = call->node->attr.fn;
    const DType dtype = op_out_shape(call, 0)->dtype;
    bool fit = fn == FN_GELU_TANH || fn == FN_GELU_ERF;
    for (int i = 0; fit && i < call->node->n_out + call->node->n_in; i++) {
        const int id = call->plan->operands[call->node->first + i];
        if (id == PLAN_NONE) continue;
        const Tensor *t = &call->plan->tensors[id];
        fit = t->dtype == dtype && plan_contiguous(t) && plan_elements(t) % WIDTH == 0 &&
              ((uintptr_t)call->memory[id] & 15U) == 0;
    }
    return fit && dtype != DT_F64;
}

template <typename A, bool BACKWARD>
static Status launch_gelu(const OpCall *call, const void *x, const void *dy)
{
    const int64_t vectors = plan_elements(op_out_shape(call, 0)) / vector_width<A>;
    const auto kernel = call->node->attr.fn == FN_GELU_ERF ? gelu_kernel<A, true, BACKWARD>
                                                           : gelu_kernel<A, false, BACKWARD>;
    const dim3 grid((unsigned)blocks_for(vectors, GELU_VECTORS * FLAT_THREADS));
    return launch_dependent(call->backend, kernel, grid, dim3(FLAT_THREADS),
                            static_cast<A *>(op_out(call, 0)), static_cast<const A *>(x),
                            static_cast<const A *>(dy), vectors);
}

/* ---- what ops call ---- */

static UnaryFormula formula(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    return {attr->fn, (float)attr->scale, (float)attr->shift};
}

Status unary_cuda_run(const OpCall *call)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    if (takes_gelu_vectors(call))
        DISPATCH_FLOAT(op_out_shape(call, 0)->dtype, A,
                       return launch_gelu<A, false>(call, op_in(call, 0), nullptr));
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
    if (takes_gelu_vectors(call))
        DISPATCH_FLOAT(op_out_shape(call, 0)->dtype, A,
                       return launch_gelu<A, true>(call, op_in(call, saved_at), op_in(call, 0)));
    const auto launch = [=](auto dx, auto dy, auto saved) {
        unary_grad_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            dx, dy, saved, n, formula(call));
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0),
                              in_ref(call, saved_at));
}
