/* Softmax over attention scores and its gradient (ops/softmax.c has the formulas). A causal row ends
 * at its own token: what lies beyond counts for nothing and becomes 0. */
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, MOST_COLUMNS = 16384 };     /* of the fast kernels */
enum { FORWARD_SHARE = 32, BACKWARD_SHARE = 16 }; /* columns of a row that a thread holds */

struct SoftmaxArgs {
    Operand out, s, p; /* forward: out = softmax(s); backward: s is dp */
    int64_t rows, T;
    float scale;
    bool causal;
};

/* Columns of the row that count. */
__device__ __forceinline__ int64_t columns(const SoftmaxArgs &f, int64_t row)
{
    if (!f.causal) return f.T;
    /* 32-bit divisions are several times faster */
    return f.rows <= UINT32_MAX ? (uint32_t)row % (uint32_t)f.T + 1 : row % f.T + 1;
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

/* each(k, j) for this thread's vectors of a row, k < ITEMS, that begin at a column j before `end`. */
template <int ITEMS, int W, typename Each>
__device__ __forceinline__ void for_vectors(int end, const Each &each)
{
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int j = (int)(threadIdx.x + k * blockDim.x) * W;
        if (j < end) each(k, j);
    }
}

template <typename T, int ITEMS, int W>
__device__ __forceinline__ void load_row(float (&v)[ITEMS][W], const T *row, int end)
{
    for_vectors<ITEMS, W>(end, [&](int k, int j) { load_vector(v[k], row + j); });
}

/* v * factor up to column n, and zeros from there to `end`. */
template <typename T, int ITEMS, int W>
__device__ __forceinline__ void store_row(T *row, float (&v)[ITEMS][W], float factor, int n,
                                          int end)
{
    for_vectors<ITEMS, W>(end, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) v[k][e] = j + e < n ? v[k][e] * factor : 0.0F;
        store_vector(row + j, v[k]);
    });
}

/* v = scale v, and -inf in the rest of the vector where column n is; returns the maximum. */
template <int ITEMS, int W>
__device__ __forceinline__ float scale_row(float (&v)[ITEMS][W], float scale, int n)
{
    float max = -INFINITY;
    for_vectors<ITEMS, W>(n, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) {
            v[k][e] = j + e < n ? v[k][e] * scale : -INFINITY;
            max = fmaxf(max, v[k][e]);
        }
    });
    return max;
}

/* The fast exp is off by less than 2e-7 + 1e-7 |v - max|: 1e-5 only where the result is 1e-40. */
template <int ITEMS, int W>
__device__ __forceinline__ float exp_row(float (&v)[ITEMS][W], float max, int n)
{
    float sum = 0;
    for_vectors<ITEMS, W>(n, [&](int k, int) {
#pragma unroll
        for (int e = 0; e < W; e++) sum += v[k][e] = __expf(v[k][e] - max);
    });
    return sum;
}

template <typename T>
__global__ void __launch_bounds__(MOST_COLUMNS / FORWARD_SHARE)
    softmax_forward_kernel(const SoftmaxArgs f)
{
    constexpr int W = vector_width<T>, ITEMS = FORWARD_SHARE / W;
    __shared__ float shared[MOST_COLUMNS / FORWARD_SHARE / 32];
    for (int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; row < f.rows;
         row += (int64_t)gridDim.x * blockDim.y) {
        const int width = (int)f.T, n = (int)columns(f, row);
        float v[ITEMS][W];
        load_row(v, static_cast<const T *>(f.s.data) + row * width, n);
        const float max = row_max(scale_row(v, f.scale, n), shared);
        const float factor = 1.0F / row_sum(exp_row(v, max, n), shared);
        store_row(static_cast<T *>(f.out.data) + row * width, v, factor, n, width);
    }
}

/* The sum of dp p over the columns before n. */
template <int ITEMS, int W>
__device__ __forceinline__ float dot_rows(const float (&dp)[ITEMS][W], const float (&p)[ITEMS][W],
                                          int n)
{
    float dot = 0;
    for_vectors<ITEMS, W>(n, [&](int k, int j) {
#pragma unroll
        for (int e = 0; e < W; e++) dot += j + e < n ? dp[k][e] * p[k][e] : 0.0F;
    });
    return dot;
}

template <typename T>
__global__ void __launch_bounds__(MOST_COLUMNS / BACKWARD_SHARE)
    softmax_backward_kernel(const SoftmaxArgs f)
{
    constexpr int W = vector_width<T>, ITEMS = BACKWARD_SHARE / W;
    __shared__ float shared[MOST_COLUMNS / BACKWARD_SHARE / 32];
    for (int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; row < f.rows;
         row += (int64_t)gridDim.x * blockDim.y) {
        const int width = (int)f.T, n = (int)columns(f, row);
        float dp[ITEMS][W], p[ITEMS][W];
        load_row(dp, static_cast<const T *>(f.s.data) + row * width, n);
        load_row(p, static_cast<const T *>(f.p.data) + row * width, n);
        const float dot = row_sum(dot_rows(dp, p, n), shared);
        for_vectors<ITEMS, W>(n, [&](int k, int) {
#pragma unroll
            for (int e = 0; e < W; e++) dp[k][e] = p[k][e] * (dp[k][e] - dot);
        });
        store_row(static_cast<T *>(f.out.data) + row * width, dp, f.scale, n, width);
    }
}

__global__ void softmax_plain_kernel(const SoftmaxArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T, n = columns(f, row);
        float max = -INFINITY, sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            max = fmaxf(max, f.scale * f.s.get(at + j));
        }
        max = block_max(max, shared);
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            sum += __expf(f.scale * f.s.get(at + j) - max);
        }
        const float factor = 1.0F / block_sum(sum, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            f.out.set(at + j, j < n ? __expf(f.scale * f.s.get(at + j) - max) * factor : 0.0F);
        }
    }
}

__global__ void softmax_grad_plain_kernel(const SoftmaxArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T, n = columns(f, row);
        float dot = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            dot += f.s.get(at + j) * f.p.get(at + j);
        }
        dot = block_sum(dot, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            const float d = j < n ? f.scale * f.p.get(at + j) * (f.s.get(at + j) - dot) : 0.0F;
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

static Status launch(const OpCall *call, const SoftmaxArgs &f, bool backward)
{
    const cudaStream_t stream = call->backend->stream;
    if (takes_vectors(f)) {
        const dim3 threads = row_threads(f, backward ? BACKWARD_SHARE : FORWARD_SHARE);
        const unsigned blocks = grid_blocks(blocks_for(f.rows, threads.y));
        DISPATCH_FLOAT(f.s.dtype, T, {
            const auto kernel = backward ? softmax_backward_kernel<T> : softmax_forward_kernel<T>;
            kernel<<<blocks, threads, 0, stream>>>(f);
        });
    } else {
        const auto plain = backward ? softmax_grad_plain_kernel : softmax_plain_kernel;
        plain<<<grid_blocks(f.rows), block_threads(f.T, THREADS), 0, stream>>>(f);
    }
    return LAUNCH_STATUS();
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
