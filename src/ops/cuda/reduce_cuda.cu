/* Rows: a warp for each narrow row, a block for each wide one.
 * Columns: bands of columns times groups of rows, each summed by one block into the workspace, then
 * the groups' sums in their order. Groups depend on the shape alone: results are the same on every
 * GPU and in every run. */
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"
#include "plan/op_functions.h"

#include <math.h>

enum {
    THREADS = 256,
    WARP = GPU_SUPPORT_REDUCE_WARP,
    WARPS = THREADS / WARP,
    NARROW = 2048,
    WIDE_THREADS = 1024
};

/* ---- rows ---- */

__device__ __forceinline__ float joined(int fn, float a, float b)
{
    return fn == FN_ROW_MAX ? fmaxf(a, b) : a + b;
}

/* Elements of one access. */
template <bool VECTORIZED, typename X>
constexpr int access_width = VECTORIZED ? vector_width<X> : 1;

template <typename X, int N>
__device__ __forceinline__ void read_access(float (&v)[N], const X *from)
{
    if constexpr (N == 1) {
        v[0] = to_float(*from);
    } else {
        load_vector(v, from);
    }
}

/* What thread `lane` of `lanes` makes of its share of a row. */
template <bool VECTORIZED, typename X>
__device__ __forceinline__ float row_share(const X *row, int64_t W, int fn, int lane, int lanes)
{
    constexpr int N = access_width<VECTORIZED, X>;
    float result = fn == FN_ROW_MAX ? -INFINITY : 0.0F;
#pragma unroll 4
    for (int64_t j = (int64_t)lane * N; j < W; j += (int64_t)lanes * N) {
        float v[N];
        read_access(v, row + j);
#pragma unroll
        for (int k = 0; k < N; k++) result = joined(fn, result, v[k]);
    }
    return result;
}

__device__ __forceinline__ void row_store(Operand y, int64_t row, int64_t W, int fn, float result)
{
    y.set(row, fn == FN_ROW_MEAN ? result / (float)W : result);
}

template <bool VECTORIZED, typename X>
__global__ void __launch_bounds__(THREADS)
    reduce_row_warp_kernel(Operand y, const X *x, int64_t ld, int64_t R, int64_t W, int fn)
{
    const int lane = threadIdx.x % WARP;
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (row >= R) return; /* the whole warp */
    const float share = row_share<VECTORIZED>(x + row * ld, W, fn, lane, WARP);
    const float result = fn == FN_ROW_MAX ? warp_max(share) : warp_sum(share);
    if (lane == 0) row_store(y, row, W, fn, result);
}

template <bool VECTORIZED, typename X>
__global__ void __launch_bounds__(WIDE_THREADS)
    reduce_row_block_kernel(Operand y, const X *x, int64_t ld, int64_t W, int fn)
{
    __shared__ float shared[WIDE_THREADS / WARP];
    const int64_t row = blockIdx.x;
    const float share = row_share<VECTORIZED>(x + row * ld, W, fn, threadIdx.x, blockDim.x);
    const float result = fn == FN_ROW_MAX ? block_max(share, shared) : block_sum(share, shared);
    if (threadIdx.x == 0) row_store(y, row, W, fn, result);
}

/* ---- columns ---- */

/* This thread's columns over the rows of its group that fall to its warp. */
template <typename X, int N>
__device__ __forceinline__ void column_share(float (&sum)[N], const X *x, int64_t ld, int64_t first,
                                             int64_t end)
{
#pragma unroll 4
    for (int64_t r = first; r < end; r += WARPS) {
        float v[N];
        read_access(v, x + r * ld);
#pragma unroll
        for (int k = 0; k < N; k++) sum[k] += v[k];
    }
}

/* Block (band, group) writes partial[group, columns of the band]. */
template <bool VECTORIZED, typename X>
__global__ void __launch_bounds__(THREADS)
    reduce_column_kernel(float *partial, const X *x, int64_t ld, int64_t R, int64_t W,
                         int64_t group_rows, int64_t bands)
{
    constexpr int EACH = access_width<VECTORIZED, X>, BAND = WARP * EACH;
    __shared__ float shared[WARPS][BAND];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t group = blockIdx.x / bands, band = blockIdx.x - group * bands;
    const int64_t first = group * group_rows, end = min(first + group_rows, R);
    const int64_t col = band * BAND + lane * EACH;
    float sum[EACH] = {0};
    if (col < W) column_share(sum, x + col, ld, first + warp, end);
#pragma unroll
    for (int k = 0; k < EACH; k++) shared[warp][k * WARP + lane] = sum[k]; /* no bank conflicts */
    __syncthreads();
    for (int j = threadIdx.x; j < BAND; j += THREADS) {
        const int64_t out = band * BAND + j;
        const int at = j % EACH * WARP + j / EACH;
        float total = 0;
        for (int w = 0; w < WARPS; w++) total += shared[w][at];
        if (out < W) partial[group * W + out] = total;
    }
}

/* Each block adds the groups of WARP columns: its warps take the groups in turn. */
__global__ void __launch_bounds__(THREADS)
    reduce_groups_kernel(Operand y, const float *partial, int64_t groups, int64_t W)
{
    __shared__ float shared[WARPS][WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t col = (int64_t)blockIdx.x * WARP + lane;
    float sum = 0;
    if (col < W) {
#pragma unroll 4
        for (int64_t g = warp; g < groups; g += WARPS) sum += partial[g * W + col];
    }
    shared[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || col >= W) return;
    float total = 0;
    for (int w = 0; w < WARPS; w++) total += shared[w][lane];
    y.set(col, total);
}

/* ---- launches ---- */

template <bool VECTORIZED, typename X> static Status launch_rows(const OpCall *call, const X *x)
{
    const Tensor *tx = op_in_shape(call, 0);
    const int64_t R = plan_rows(tx), W = plan_width(tx);
    const Operand y = operand_out(call, 0);
    const int fn = call->node->attr.fn;
    const cudaStream_t stream = call->backend->stream;
    if (W <= NARROW) {
        const unsigned grid = (unsigned)blocks_for(R, WARPS);
        reduce_row_warp_kernel<VECTORIZED><<<grid, THREADS, 0, stream>>>(y, x, tx->ld, R, W, fn);
    } else {
        const int threads = W >= 8 * NARROW ? WIDE_THREADS : THREADS;
        reduce_row_block_kernel<VECTORIZED>
            <<<(unsigned)R, threads, 0, stream>>>(y, x, tx->ld, W, fn);
    }
    return LAUNCH_STATUS();
}

template <bool VECTORIZED, typename X> static Status launch_columns(const OpCall *call, const X *x)
{
    const Tensor *tx = op_in_shape(call, 0);
    const int64_t R = plan_rows(tx), W = plan_width(tx);
    const GpuSupportColumns c = gpu_support_columns(tx, access_width<VECTORIZED, X>);
    const cudaStream_t stream = call->backend->stream;
    float *partial = (float *)call->workspace;
    reduce_column_kernel<VECTORIZED><<<(unsigned)(c.bands * c.groups), THREADS, 0, stream>>>(
        partial, x, tx->ld, R, W, c.group_rows, c.bands);
    TRY(LAUNCH_STATUS());
    reduce_groups_kernel<<<(unsigned)blocks_for(W, WARP), THREADS, 0, stream>>>(
        operand_out(call, 0), partial, c.groups, W);
    return LAUNCH_STATUS();
}

template <bool VECTORIZED, typename X> static Status launch(const OpCall *call, const X *x)
{
    return call->node->attr.fn == FN_COL_SUM ? launch_columns<VECTORIZED>(call, x)
                                             : launch_rows<VECTORIZED>(call, x);
}

Status reduce_cuda_run(const OpCall *call)
{
    const Tensor *tx = op_in_shape(call, 0);
    const void *x = op_in(call, 0);
    const bool vectorized = is_vectorizable(x, tx);
    DISPATCH_FLOAT(tx->dtype, X,
                   return vectorized ? launch<true>(call, (const X *)x)
                                     : launch<false>(call, (const X *)x));
}
