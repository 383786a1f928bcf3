/* Rotary position embedding (ops/rope.c has the formulas), in place where y is x: the columns that
 * do not turn are then left alone. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256, FAST_THREADS = 128, ITEMS = 2 };

struct Turn {
    Any y, x;
    Any cos, sin;           /* [T, D/2] */
    Any cos_full, sin_full; /* [T, W] or absent */
    int64_t rows, W, T;
    int64_t turned, half; /* columns that turn; pairs of a head */
    bool inverse;
};

/* The matrix of a pair as ops/rope.c defines it: with the full tables each column has a factor of
 * its own. */
__device__ __forceinline__ void turn_pair(const Turn &f, int64_t row, int64_t j)
{
    const int64_t t = row % f.T, at = row * f.W + j;
    const bool full = f.cos_full.data;
    const int64_t i = t * f.half + j / 2 % f.half, k = t * f.W + j;
    const float c0 = full ? f.cos_full.get(k) : f.cos.get(i);
    const float c1 = full ? f.cos_full.get(k + 1) : c0;
    const float s0 = full ? f.sin_full.get(k) : f.sin.get(i);
    const float s1 = full ? f.sin_full.get(k + 1) : s0;
    const float x0 = f.x.get(at), x1 = f.x.get(at + 1);
    f.y.set(at, c0 * x0 + (f.inverse ? s1 : -s0) * x1);
    f.y.set(at + 1, (f.inverse ? -s0 : s1) * x0 + c1 * x1);
}

__global__ void rope_plain_kernel(const Turn f)
{
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t j = 2 * threadIdx.x; j < f.turned; j += 2 * blockDim.x) turn_pair(f, row, j);
        if (f.y.data == f.x.data) continue;
        for (int64_t j = f.turned + threadIdx.x; j < f.W; j += blockDim.x) {
            f.y.set(row * f.W + j, f.x.get(row * f.W + j));
        }
    }
}

/* Four pairs with the angles of a thread; `sin` carries the direction. */
__device__ __forceinline__ void turn_pack(float (&x)[WIDTH], const float4 &cos, const float4 &sin)
{
    const float c[4] = {cos.x, cos.y, cos.z, cos.w}, s[4] = {sin.x, sin.y, sin.z, sin.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float x0 = x[2 * i], x1 = x[2 * i + 1];
        x[2 * i] = x0 * c[i] - x1 * s[i];
        x[2 * i + 1] = x0 * s[i] + x1 * c[i];
    }
}

template <typename A>
__device__ __forceinline__ void turn_row(A *y, const A *x, int packs, int step, const float4 &cos,
                                         const float4 &sin)
{
#pragma unroll 1 /* more packs in flight only cost registers */
    for (int j = threadIdx.x; j < packs; j += ITEMS * step) {
        float v[ITEMS][WIDTH];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step < packs) load8(v[k], x + (int64_t)(j + k * step) * WIDTH);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step >= packs) continue;
            turn_pack(v[k], cos, sin);
            store8(y + (int64_t)(j + k * step) * WIDTH, v[k]);
        }
    }
}

/* One token a block. `step` packs make whole heads, so that a thread has the same pairs of every
 * head it turns and reads their angles once; threads beyond it only help to copy. */
template <typename A>
__global__ void __launch_bounds__(FAST_THREADS) rope_kernel(const Turn f, int packs, int step)
{
    const int64_t t = blockIdx.x;
    const int first = (int)threadIdx.x * (WIDTH / 2) % (int)f.half;
    const float4 cos = *(const float4 *)((const float *)f.cos.data + t * f.half + first);
    float4 sin = *(const float4 *)((const float *)f.sin.data + t * f.half + first);
    if (f.inverse) sin = make_float4(-sin.x, -sin.y, -sin.z, -sin.w);
    for (int64_t row = blockIdx.y * f.T + t; row < f.rows; row += gridDim.y * f.T) {
        A *y = static_cast<A *>(f.y.data) + row * f.W;
        const A *x = static_cast<const A *>(f.x.data) + row * f.W;
        if ((int)threadIdx.x < step) turn_row(y, x, packs, step, cos, sin);
        if (y == x) continue;
#pragma unroll 1
        for (int64_t j = f.turned + threadIdx.x * WIDTH; j < f.W; j += blockDim.x * WIDTH) {
            *(Pack<A> *)(y + j) = *(const Pack<A> *)(x + j);
        }
    }
}

static bool all_packs(const OpCall *call, const Turn &f)
{
    const int64_t head = f.half / (WIDTH / 2); /* packs */
    if (f.cos_full.data || f.cos.dtype != DT_F32 || f.sin.dtype != DT_F32) return false;
    if (f.half % (WIDTH / 2) || head > FAST_THREADS || f.turned / WIDTH > INT32_MAX / 2)
        return false;
    if (((uintptr_t)f.cos.data | (uintptr_t)f.sin.data) & 15U) return false;
    return f.T <= INT32_MAX && packs_fit(f.x.data, op_in_shape(call, 0)) &&
           packs_fit(f.y.data, op_out_shape(call, 0));
}

static Status run_packs(const OpCall *call, const Turn &f)
{
    const int head = (int)(f.half / (WIDTH / 2)), packs = (int)(f.turned / WIDTH);
    const int step = (int)any_at_most(FAST_THREADS / head * head, packs);
    const dim3 grid((unsigned)f.T, (unsigned)any_at_most(f.rows / f.T, 65535));
    const int threads = any_threads(step, FAST_THREADS);
    const cudaStream_t stream = call->backend->stream;
    DISPATCH_FLOAT(f.x.dtype, A, (rope_kernel<A><<<grid, threads, 0, stream>>>(f, packs, step)));
    TRY_LAUNCH();
    return ST_OK;
}

static Status run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    Turn f = {};
    f.y = any_out(call, 0);
    f.x = any_in(call, 0);
    f.cos = any_in(call, 1);
    f.sin = any_in(call, 2);
    f.cos_full = any_in(call, 3);
    f.sin_full = any_in(call, 4);
    f.rows = plan_rows(x);
    f.W = plan_width(x);
    f.T = call->node->attr.tokens;
    f.half = plan_width(op_in_shape(call, 1));
    f.turned = call->node->attr.heads * 2 * f.half;
    f.inverse = call->node->attr.inverse;
    if (all_packs(call, f)) return run_packs(call, f);
    const int threads = any_threads(f.W / 2 + 1, THREADS);
    rope_plain_kernel<<<any_grid(f.rows), threads, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

/* With equal pointers nothing is copied, which is right for equal dtypes only. */
static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype != plan_out(plan, node, 0)->dtype) {
        return "x and y differ in dtype";
    }
    return impls_cuda_declines_f64(plan, node);
}

const OpImpl rope_cuda[] = {{"rope_cuda", declines, nullptr, run}, {}};
