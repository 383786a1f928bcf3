/* Softmax over attention scores and its gradient (ops/softmax.c has the formulas). A causal row ends
 * at its own token, and with a window it has the last `window` columns up to it: what lies outside
 * counts for nothing and becomes 0. */
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, MOST_COLUMNS = 16384 };     /* of the fast kernels */
enum { FORWARD_SHARE = 32, BACKWARD_SHARE = 16 }; /* columns of a row that a thread holds */

struct SoftmaxArgs {
    Operand out, s, p; /* forward: out = softmax(s); backward: s is dp */
    int64_t rows, T;
    float scale;
    bool causal;
    int64_t window; /* 0: none */
};

/* Columns of a row: those from `first` on and before `end`. Without a WINDOW `first` is 0 and costs
 * nothing. */
template <bool WINDOW, typename Int> struct Columns {
    Int first, end;

    __device__ __forceinline__ bool has(Int j) const
    {
        return j < end && (!WINDOW || j >= first);
    }
    /* One of W columns from j on. */
    template <int W> __device__ __forceinline__ bool has_any(Int j) const
    {
        return j < end && (!WINDOW || j + W > first);
    }
};

/* The columns of the row that count. */
template <bool WINDOW, typename Int>
__device__ __forceinline__ Columns<WINDOW, Int> columns(const SoftmaxArgs &f, int64_t row)
{
    if (!f.causal) return {0, (Int)f.T};
    /* 32-bit divisions are several times faster */
    const int64_t end = f.rows <= UINT32_MAX ? (uint32_t)row % (uint32_t)f.T + 1 : row % f.T + 1;
    return {WINDOW && end > f.window ? (Int)(end - f.window) : 0, (Int)end};
}

/* A row belongs to one warp (several rows a block, no barriers) or to a whole block. */
__device__ __forceinline__ float row_sum(float x, float *shared)
{
    return blockDim.x == 32 ? warp_sum(x) : block_sum(x, shared);
}

__device__ __forceinline__ float row_max(float x, float *shared)
{
    return blockDim.x == 32 ? warp_max(x) : block_max(x, shared);
}

/* each(k, j) for this thread's vectors of a row, k < ITEMS, from a column j on, with some of `c`. */
template <int ITEMS, int W, bool WINDOW, typename Each>
__device__ __forceinline__ void for_vectors(Columns<WINDOW, int> c, const Each &each)
{
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int j = (int)(threadIdx.x + k * blockDim.x) * W;
        if (c.template has_any<W>(j)) each(k, j);
    }
}

template <typename T, int ITEMS, int W, bool WINDOW>
__device__ __forceinline__ void load_row(float (&v)[ITEMS][W], const T *row, Columns<WINDOW, int> c)
{
    for_vectors<ITEMS, W>(c, [&](int k, int j) { load_vector(v[k], row + j); });
}

/* v * factor in the columns c, and zeros in the others of a row. */
template <typename T, int ITEMS, int W, bool WINDOW>
__device__ __forceinline__ void store_row(T *row, float (&v)[ITEMS][W], float factor,
                                          Columns<WINDOW, int> c, int width)
{
    for_vectors<ITEMS, W>(Columns<false, int>{0, width}, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) v[k][e] = c.has(j + e) ? v[k][e] * factor : 0.0F;
        store_vector(row + j, v[k]);
    });
}

/* v = scale v, and -inf in the rest of vectors that c has a part of; returns the maximum. */
template <int ITEMS, int W, bool WINDOW>
__device__ __forceinline__ float scale_row(float (&v)[ITEMS][W], float scale,
                                           Columns<WINDOW, int> c)
{
    float max = -INFINITY;
    for_vectors<ITEMS, W>(c, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) {
            v[k][e] = c.has(j + e) ? v[k][e] * scale : -INFINITY;
            max = fmaxf(max, v[k][e]);
        }
    });
    return max;
}

/* The fast exp is off by less than 2e-7 + 1e-7 |v - max|: 1e-5 only where the result is 1e-40. */
template <int ITEMS, int W, bool WINDOW>
__device__ __forceinline__ float exp_row(float (&v)[ITEMS][W], float max, Columns<WINDOW, int> c)
{
    float sum = 0;
    for_vectors<ITEMS, W>(c, [&](int k, int) {
#pragma unroll
        for (int e = 0; e < W; e++) sum += v[k][e] = __expf(v[k][e] - max);
    });
    return sum;
}

template <typename T, bool WINDOW>
__global__ void __launch_bounds__(MOST_COLUMNS / FORWARD_SHARE)
    softmax_forward_kernel(const SoftmaxArgs f)
{
    constexpr int W = vector_width<T>, ITEMS = FORWARD_SHARE / W;
    __shared__ float shared[MOST_COLUMNS / FORWARD_SHARE / 32];
    for (int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; row < f.rows;
         row += (int64_t)gridDim.x * blockDim.y) {
        const int width = (int)f.T;
        const auto c = columns<WINDOW, int>(f, row);
        float v[ITEMS][W];
        load_row(v, static_cast<const T *>(f.s.data) + row * width, c);
        const float max = row_max(scale_row(v, f.scale, c), shared);
        const float factor = 1.0F / row_sum(exp_row(v, max, c), shared);
        store_row(static_cast<T *>(f.out.data) + row * width, v, factor, c, width);
    }
}

/* The sum of dp p over the columns c. */
template <int ITEMS, int W, bool WINDOW>
__device__ __forceinline__ float dot_rows(const float (&dp)[ITEMS][W], const float (&p)[ITEMS][W],
                                          Columns<WINDOW, int> c)
{
    float dot = 0;
    for_vectors<ITEMS, W>(c, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) dot += c.has(j + e) ? dp[k][e] * p[k][e] : 0.0F;
    });
    return dot;
}

template <typename T, bool WINDOW>
__global__ void __launch_bounds__(MOST_COLUMNS / BACKWARD_SHARE)
    softmax_backward_kernel(const SoftmaxArgs f)
{
    constexpr int W = vector_width<T>, ITEMS = BACKWARD_SHARE / W;
    __shared__ float shared[MOST_COLUMNS / BACKWARD_SHARE / 32];
    for (int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; row < f.rows;
         row += (int64_t)gridDim.x * blockDim.y) {
        const int width = (int)f.T;
        const auto c = columns<WINDOW, int>(f, row);
        float dp[ITEMS][W], p[ITEMS][W];
        load_row(dp, static_cast<const T *>(f.s.data) + row * width, c);
        load_row(p, static_cast<const T *>(f.p.data) + row * width, c);
        const float dot = row_sum(dot_rows(dp, p, c), shared);
        for_vectors<ITEMS, W>(c, [&](int k, int) {
#pragma unroll
            for (int e = 0; e < W; e++) dp[k][e] = p[k][e] * (dp[k][e] - dot);
        });
        store_row(static_cast<T *>(f.out.data) + row * width, dp, f.scale, c, width);
    }
}

template <bool WINDOW> __global__ void softmax_plain_kernel(const SoftmaxArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T;
        const auto c = columns<WINDOW, int64_t>(f, row);
        const int64_t first = (WINDOW ? c.first : 0) + threadIdx.x;
        float max = -INFINITY, sum = 0;
        for (int64_t j = first; j < c.end; j += blockDim.x) {
            max = fmaxf(max, f.scale * f.s.get(at + j));
        }
        max = block_max(max, shared);
        for (int64_t j = first; j < c.end; j += blockDim.x) {
            sum += __expf(f.scale * f.s.get(at + j) - max);
        }
        const float factor = 1.0F / block_sum(sum, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            f.out.set(at + j, c.has(j) ? __expf(f.scale * f.s.get(at + j) - max) * factor : 0.0F);
        }
    }
}

template <bool WINDOW> __global__ void softmax_grad_plain_kernel(const SoftmaxArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T;
        const auto c = columns<WINDOW, int64_t>(f, row);
        const int64_t first = (WINDOW ? c.first : 0) + threadIdx.x;
        float dot = 0;
        for (int64_t j = first; j < c.end; j += blockDim.x) {
            dot += f.s.get(at + j) * f.p.get(at + j);
        }
        dot = block_sum(dot, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            const float d = c.has(j) ? f.scale * f.p.get(at + j) * (f.s.get(at + j) - dot) : 0.0F;
            f.out.set(at + j, d);
        }
    }
}

static SoftmaxArgs softmax_args(const OpCall *call)
{
    const Tensor *s = op_in_shape(call, 0);
    SoftmaxArgs f = {};
    f.out = operand_out(call, 0);
    f.s = operand_in(call, 0);
    f.rows = plan_rows(s);
    f.T = plan_width(s);
    f.scale = (float)call->node->attr.scale;
    f.causal = call->node->attr.causal;
    f.window = f.causal && call->node->attr.window < f.T ? call->node->attr.window : 0;
    return f;
}

static bool takes_vectors(const SoftmaxArgs &f)
{
    const bool same = f.out.dtype == f.s.dtype && (!f.p.data || f.p.dtype == f.s.dtype);
    const uintptr_t places = (uintptr_t)f.out.data | (uintptr_t)f.s.data | (uintptr_t)f.p.data;
    return same && places % 16 == 0 && f.T % WIDTH == 0 && f.T <= MOST_COLUMNS;
}

/* Threads of a fast kernel: those of a row, and rows of a block. */
static dim3 row_threads(const SoftmaxArgs &f, int share)
{
    const int threads = block_threads(blocks_for(f.T, share), MOST_COLUMNS / share);
    return dim3(threads, threads == 32 ? 4 : 1);
}

template <bool WINDOW>
static Status launch_form(const OpCall *call, const SoftmaxArgs &f, bool backward)
{
    const cudaStream_t stream = call->backend->stream;
    if (takes_vectors(f)) {
        const dim3 threads = row_threads(f, backward ? BACKWARD_SHARE : FORWARD_SHARE);
        const unsigned blocks = grid_blocks(blocks_for(f.rows, threads.y));
        DISPATCH_FLOAT(f.s.dtype, T, {
            const auto kernel =
                backward ? softmax_backward_kernel<T, WINDOW> : softmax_forward_kernel<T, WINDOW>;
            kernel<<<blocks, threads, 0, stream>>>(f);
        });
    } else {
        const auto plain =
            backward ? softmax_grad_plain_kernel<WINDOW> : softmax_plain_kernel<WINDOW>;
        plain<<<grid_blocks(f.rows), block_threads(f.T, THREADS), 0, stream>>>(f);
    }
    return LAUNCH_STATUS();
}

static Status launch(const OpCall *call, const SoftmaxArgs &f, bool backward)
{
    return f.window > 0 ? launch_form<true>(call, f, backward)
                        : launch_form<false>(call, f, backward);
}

Status softmax_cuda_run(const OpCall *call)
{
    return launch(call, softmax_args(call), false);
}

Status softmax_grad_cuda_run(const OpCall *call)
{
    SoftmaxArgs f = softmax_args(call);
    f.p = operand_in(call, 1);
    return launch(call, f, true);
}
