/* Rotary position embedding (ops/rope.c has the formulas), in place where y is x: the columns that
 * do not turn are then left alone. */
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, FAST_THREADS = 128, ITEMS = 2 };

struct RopeArgs {
    Operand y, x;
    Operand cos, sin;           /* [T, D/2] */
    Operand cos_full, sin_full; /* [T, W] or absent */
    int64_t rows, W, T;
    int64_t rotated, half; /* columns that turn; pairs of a head */
    bool inverse;
};

/* The matrix of a pair as ops/rope.c defines it: with the full tables each column has a factor of
 * its own. */
__device__ __forceinline__ void rotate_pair(const RopeArgs &f, int64_t row, int64_t j)
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

__global__ void rope_plain_kernel(const RopeArgs f)
{
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t j = 2 * threadIdx.x; j < f.rotated; j += 2 * blockDim.x)
            rotate_pair(f, row, j);
        if (f.y.data == f.x.data) continue;
        for (int64_t j = f.rotated + threadIdx.x; j < f.W; j += blockDim.x) {
            f.y.set(row * f.W + j, f.x.get(row * f.W + j));
        }
    }
}

/* The pairs of a vector; `sin` carries the direction. */
template <int W>
__device__ __forceinline__ void rotate_vector(float (&x)[W], const float (&cos)[W / 2],
                                              const float (&sin)[W / 2])
{
#pragma unroll
    for (int i = 0; i < W / 2; i++) {
        const float x0 = x[2 * i], x1 = x[2 * i + 1];
        x[2 * i] = x0 * cos[i] - x1 * sin[i];
        x[2 * i + 1] = x0 * sin[i] + x1 * cos[i];
    }
}

template <typename A, int W>
__device__ __forceinline__ void rotate_row(A *y, const A *x, int vectors, int step,
                                           const float (&cos)[W / 2], const float (&sin)[W / 2])
{
#pragma unroll 1 /* more vectors in flight only cost registers */
    for (int j = threadIdx.x; j < vectors; j += ITEMS * step) {
        float v[ITEMS][W];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step < vectors) load_vector(v[k], x + (int64_t)(j + k * step) * W);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step >= vectors) continue;
            rotate_vector(v[k], cos, sin);
            store_vector(y + (int64_t)(j + k * step) * W, v[k]);
        }
    }
}

/* One token a block. `step` vectors make whole heads, so that a thread has the same pairs of every
 * head it turns and reads their angles once; threads beyond it only help to copy. */
template <typename A>
__global__ void __launch_bounds__(FAST_THREADS) rope_kernel(const RopeArgs f, int vectors, int step)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t t = blockIdx.x;
    const int64_t angle = t * f.half + (int)threadIdx.x * (W / 2) % (int)f.half;
    float cos[W / 2], sin[W / 2];
    load_vector(cos, static_cast<const float *>(f.cos.data) + angle);
    load_vector(sin, static_cast<const float *>(f.sin.data) + angle);
#pragma unroll
    for (int i = 0; i < W / 2; i++) sin[i] = f.inverse ? -sin[i] : sin[i];
    for (int64_t row = blockIdx.y * f.T + t; row < f.rows; row += gridDim.y * f.T) {
        A *y = static_cast<A *>(f.y.data) + row * f.W;
        const A *x = static_cast<const A *>(f.x.data) + row * f.W;
        if ((int)threadIdx.x < step) rotate_row<A, W>(y, x, vectors, step, cos, sin);
        if (y == x) continue;
#pragma unroll 1
        for (int64_t j = f.rotated + threadIdx.x * W; j < f.W; j += blockDim.x * W) {
            using Whole = Vector<A, W>;
            *reinterpret_cast<Whole *>(y + j) = *reinterpret_cast<const Whole *>(x + j);
        }
    }
}

/* Elements of a 16-byte access to x. */
static int64_t width_of(const RopeArgs &f)
{
    return 16 / (int64_t)plan_dtype_size(f.x.dtype);
}

static bool takes_vectors(const OpCall *call, const RopeArgs &f)
{
    if (f.cos_full.data || f.cos.dtype != DT_F32 || f.sin.dtype != DT_F32) return false;
    if (f.half % (WIDTH / 2) || 2 * f.half > width_of(f) * FAST_THREADS) return false;
    if (f.T > INT32_MAX || f.rotated > INT32_MAX / 2) return false;
    if (((uintptr_t)f.cos.data | (uintptr_t)f.sin.data) & 15U) return false;
    return is_vectorizable(f.x.data, op_in_shape(call, 0)) &&
           is_vectorizable(f.y.data, op_out_shape(call, 0));
}

static Status run_vectors(const OpCall *call, const RopeArgs &f)
{
    const int head = (int)(2 * f.half / width_of(f)), vectors = (int)(f.rotated / width_of(f));
    const int step = (int)std::min<int64_t>(FAST_THREADS / head * head, vectors);
    const dim3 grid((unsigned)f.T, (unsigned)std::min<int64_t>(f.rows / f.T, 65535));
    const int threads = block_threads(step, FAST_THREADS);
    DISPATCH_FLOAT(
        f.x.dtype, A,
        return launch_dependent(call->backend, rope_kernel<A>, grid, threads, f, vectors, step));
}

Status rope_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    RopeArgs f = {};
    f.y = operand_out(call, 0);
    f.x = operand_in(call, 0);
    f.cos = operand_in(call, 1);
    f.sin = operand_in(call, 2);
    f.cos_full = operand_in(call, 3);
    f.sin_full = operand_in(call, 4);
    f.rows = plan_rows(x);
    f.W = plan_width(x);
    f.T = call->node->attr.tokens;
    f.half = plan_width(op_in_shape(call, 1));
    f.rotated = call->node->attr.heads * 2 * f.half;
    f.inverse = call->node->attr.inverse;
    if (takes_vectors(call, f)) return run_vectors(call, f);
    const int threads = block_threads(f.W / 2 + 1, THREADS);
    rope_plain_kernel<<<grid_blocks(f.rows), threads, 0, call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}
