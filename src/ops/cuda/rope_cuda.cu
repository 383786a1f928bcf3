/* Rotary position embedding (ops/rope.c has the formulas), in place where y is x: the columns that
 * do not turn are then left alone. */
#include "ops/cuda/launch_cuda.cuh"
#include "ops/rotation.h"

enum { THREADS = 256, FAST_THREADS = 128, ITEMS = 2 };

struct RopeArgs {
    Operand y, x;
    Operand cos, sin;           /* [T, R/2] */
    Operand cos_full, sin_full; /* [T, W] or absent */
    int64_t rows, W, T;
    Rotation r;
    bool inverse;
};

/* The matrix of a pair as ops/rope.c defines it: with the full tables each column has a factor of
 * its own. */
__device__ __forceinline__ void rotate_pair(const RopeArgs &f, int64_t row, int64_t pair)
{
    const int64_t t = row % f.T, distance = rotation_distance(&f.r);
    const int64_t head = pair / f.r.half, i = pair - head * f.r.half;
    const int64_t j = rotation_column(&f.r, head, i), k = t * f.W + j;
    const bool full = f.cos_full.data;
    const float c0 = full ? f.cos_full.get(k) : f.cos.get(t * f.r.half + i);
    const float c1 = full ? f.cos_full.get(k + distance) : c0;
    const float s0 = full ? f.sin_full.get(k) : f.sin.get(t * f.r.half + i);
    const float s1 = full ? f.sin_full.get(k + distance) : s0;
    const int64_t from = row * f.x.ld + j, to = row * f.y.ld + j;
    const float x0 = f.x.get(from), x1 = f.x.get(from + distance);
    f.y.set(to, c0 * x0 + (f.inverse ? s1 : -s0) * x1);
    f.y.set(to + distance, (f.inverse ? -s0 : s1) * x0 + c1 * x1);
}

__global__ void rope_plain_kernel(const RopeArgs f)
{
    const int64_t pairs = f.r.heads * f.r.half, resting = rotation_resting(&f.r, f.W);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t p = threadIdx.x; p < pairs; p += blockDim.x) rotate_pair(f, row, p);
        if (f.y.data == f.x.data && !f.cos_full.data) continue;
        for (int64_t n = threadIdx.x; n < resting; n += blockDim.x) {
            const int64_t j = rotation_resting_column(&f.r, n);
            const float c = f.cos_full.data ? f.cos_full.get(row % f.T * f.W + j) : 1.0F;
            f.y.set(row * f.y.ld + j, c * f.x.get(row * f.x.ld + j));
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

template <typename A> __device__ __forceinline__ void copy_vector(A *y, const A *x)
{
    using Whole = Vector<A, vector_width<A>>;
    *reinterpret_cast<Whole *>(y) = *reinterpret_cast<const Whole *>(x);
}

/* Neighbours, one token a block. `step` vectors make whole heads, so that a thread has the same pairs
 * of every head it turns and reads their angles once; threads beyond it only help to copy. */
template <typename A>
__global__ void __launch_bounds__(FAST_THREADS) rope_kernel(const RopeArgs f, int vectors, int step)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t t = blockIdx.x;
    const int64_t angle = t * f.r.half + (int)threadIdx.x * (W / 2) % (int)f.r.half;
    float cos[W / 2], sin[W / 2];
    load_vector(cos, static_cast<const float *>(f.cos.data) + angle);
    load_vector(sin, static_cast<const float *>(f.sin.data) + angle);
#pragma unroll
    for (int i = 0; i < W / 2; i++) sin[i] = f.inverse ? -sin[i] : sin[i];
    for (int64_t row = blockIdx.y * f.T + t; row < f.rows; row += gridDim.y * f.T) {
        A *y = static_cast<A *>(f.y.data) + row * f.y.ld;
        const A *x = static_cast<const A *>(f.x.data) + row * f.x.ld;
        if ((int)threadIdx.x < step) rotate_row<A, W>(y, x, vectors, step, cos, sin);
        if (y == x) continue;
#pragma unroll 1
        for (int64_t j = (vectors + threadIdx.x) * W; j < f.W; j += blockDim.x * W) {
            copy_vector(y + j, x + j);
        }
    }
}

/* cos and sin of W pairs that follow each other. */
template <int W> __device__ __forceinline__ void load_angles(float (&dst)[W], const float *src)
{
#pragma unroll
    for (int i = 0; i < W; i += 4) {
        float quad[4];
        load_vector(quad, src + i);
#pragma unroll
        for (int k = 0; k < 4; k++) dst[i + k] = quad[k];
    }
}

/* A vector of the first half of a head and its partner in the second. */
template <typename A, int W>
__device__ __forceinline__ void rotate_partners(A *y, const A *x, int half, const float (&cos)[W],
                                                const float (&sin)[W])
{
    float a[W], b[W];
    load_vector(a, x);
    load_vector(b, x + half);
#pragma unroll
    for (int i = 0; i < W; i++) {
        const float x0 = a[i], x1 = b[i];
        a[i] = x0 * cos[i] - x1 * sin[i];
        b[i] = x0 * sin[i] + x1 * cos[i];
    }
    store_vector(y, a);
    store_vector(y + half, b);
}

/* Halves, one token a block: as above, `step` vectors are the first halves of whole heads. */
template <typename A>
__global__ void __launch_bounds__(FAST_THREADS)
    rope_halves_kernel(const RopeArgs f, int vectors, int step)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t t = blockIdx.x;
    const int half = (int)f.r.half, D = (int)f.r.head_dim, each = half / W;
    const int head = (int)threadIdx.x / each, first = ((int)threadIdx.x - head * each) * W;
    float cos[W], sin[W];
    load_angles(cos, static_cast<const float *>(f.cos.data) + t * half + first);
    load_angles(sin, static_cast<const float *>(f.sin.data) + t * half + first);
#pragma unroll
    for (int i = 0; i < W; i++) sin[i] = f.inverse ? -sin[i] : sin[i];
    const Rotation in_vectors = {f.r.heads, D / W, each, true};
    const int stride = step / each * D, resting = (int)rotation_resting(&in_vectors, f.W / W);
    for (int64_t row = blockIdx.y * f.T + t; row < f.rows; row += gridDim.y * f.T) {
        A *y = static_cast<A *>(f.y.data) + row * f.y.ld;
        const A *x = static_cast<const A *>(f.x.data) + row * f.x.ld;
        int64_t j = head * D + first;
#pragma unroll 1
        for (int v = (int)threadIdx.x; v < vectors && (int)threadIdx.x < step; v += step) {
            rotate_partners<A, W>(y + j, x + j, half, cos, sin);
            j += stride;
        }
        if (y == x) continue;
#pragma unroll 1
        for (int n = (int)threadIdx.x; n < resting; n += blockDim.x) {
            const int64_t at = rotation_resting_column(&in_vectors, n) * W;
            copy_vector(y + at, x + at);
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
    const int64_t D = f.r.head_dim, half = f.r.half, width = width_of(f);
    if (f.cos_full.data || f.cos.dtype != DT_F32 || f.sin.dtype != DT_F32) return false;
    const bool whole =
        f.r.halves ? half % width == 0 && D % width == 0 : half % (WIDTH / 2) == 0 && D == 2 * half;
    if (!whole || 2 * half > width * FAST_THREADS) return false;
    if (f.T > INT32_MAX || f.W > INT32_MAX / 2) return false;
    if (((uintptr_t)f.cos.data | (uintptr_t)f.sin.data) & 15U) return false;
    return is_vectorizable(f.x.data, op_in_shape(call, 0)) &&
           is_vectorizable(f.y.data, op_out_shape(call, 0));
}

static Status run_vectors(const OpCall *call, const RopeArgs &f)
{
    const int per_head = (int)((f.r.halves ? f.r.half : 2 * f.r.half) / width_of(f));
    const int vectors = (int)f.r.heads * per_head;
    const int most = FAST_THREADS / per_head; /* heads at a time */
    const int rounds = (int)blocks_for(f.r.heads, most);
    const int even = (int)blocks_for(f.r.heads, rounds);
    const int step = f.r.halves ? even * per_head : std::min(most * per_head, vectors);
    const dim3 grid((unsigned)f.T, (unsigned)std::min<int64_t>(f.rows / f.T, 65535));
    const int threads = block_threads(step, FAST_THREADS);
    DISPATCH_FLOAT(f.x.dtype, A, {
        const auto kernel = f.r.halves ? rope_halves_kernel<A> : rope_kernel<A>;
        return launch_dependent(call->backend, kernel, grid, threads, f, vectors, step);
    });
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
    f.r = rotation_of(&call->node->attr, op_in_shape(call, 1));
    f.inverse = call->node->attr.inverse;
    if (takes_vectors(call, f)) return run_vectors(call, f);
    const int threads = block_threads(f.W / 2 + 1, THREADS);
    rope_plain_kernel<<<grid_blocks(f.rows), threads, 0, call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}
