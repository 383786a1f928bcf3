/* What the norms over rows share (rmsnorm, layernorm, head_norm): how threads share a row, and
 * sums over columns.
 *
 * A gradient of a weight or bias is a sum over rows. Every block sums the rows it meets into one
 * partial row of the workspace, and norm_column_sums() adds those in a fixed order, so that
 * results do not vary. */
#pragma once

#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, MOST_PARTIALS = GPU_SUPPORT_NORM_MOST_PARTIALS };
/* The fast kernels' threads have 2 or 4 quads of a row each. */
enum { QUAD = 4, ROW_THREADS = 512, MOST_COLUMNS = 4 * QUAD * ROW_THREADS };

__device__ __forceinline__ void add_quad(float (&sum)[QUAD], const float (&x)[QUAD])
{
#pragma unroll
    for (int e = 0; e < QUAD; e++) sum[e] += x[e];
}

/* SUMS sums over the threads of one row of the block, which are whole warps. One barrier: `shared` has
 * two halves, used in turn, so that the next sums never overwrite any that are still being read. */
template <int SUMS> using RowSums = float[2][SUMS][ROW_THREADS / 32];

template <int SUMS>
__device__ __forceinline__ void row_sums(float (&x)[SUMS], RowSums<SUMS> &shared, int turn)
{
    const int warps = blockDim.x / 32, first = threadIdx.y * warps;
#pragma unroll
    for (int n = 0; n < SUMS; n++) {
        x[n] = warp_sum(x[n]);
        if (threadIdx.x % 32 == 0) shared[turn][n][first + threadIdx.x / 32] = x[n];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < SUMS; n++) {
        x[n] = 0;
        for (int i = 0; i < warps; i++) x[n] += shared[turn][n][first + i];
    }
}

/* Threads that share a row: two quads each, or four in long rows. */
static inline int row_threads(int64_t C)
{
    const int64_t pairs = blocks_for(C, 2 * QUAD);
    return block_threads(pairs > ROW_THREADS ? blocks_for(pairs, 2) : pairs, ROW_THREADS);
}

/* Rows of the operands whose bits are set, absent ones aside, start 16-byte aligned and hold whole
 * vectors. */
static inline bool are_vectorizable(const OpCall *call, unsigned outs, unsigned ins)
{
    bool fit = true;
    for (int i = 0; outs >> i; i++)
        if (outs >> i & 1U) fit = fit && is_vectorizable(op_out(call, i), op_out_shape(call, i));
    for (int i = 0; ins >> i; i++)
        if (ins >> i & 1U) fit = fit && is_vectorizable(op_in(call, i), op_in_shape(call, i));
    return fit;
}

/* The operand has the dtype of the activations, or is absent. */
static inline bool has_dtype(const Tensor *t, DType act)
{
    return !t || t->dtype == act;
}

/* Partial rows of the weight's gradient, then as many of the bias's, where there is one. */
struct ColumnSums {
    float *dw, *db;
    const float *partial;
    int partials;
    int64_t C;
};

/* 32 columns a block; 32 threads of each column add every 32nd row, then one adds theirs. */
static __global__ void norm_column_sums_kernel(const ColumnSums f)
{
    wait_for_dependency();
    __shared__ float sums[32][33];
    const float *partial = f.partial + blockIdx.y * f.partials * f.C;
    const int64_t column = blockIdx.x * (int64_t)32 + threadIdx.x;
    float sum = 0;
    if (column < f.C) {
        for (int i = threadIdx.y; i < f.partials; i += 32) sum += partial[i * f.C + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    const float whole = warp_sum(sums[threadIdx.x][threadIdx.y]);
    const int64_t mine = blockIdx.x * (int64_t)32 + threadIdx.y;
    if (threadIdx.x == 0 && mine < f.C) (blockIdx.y ? f.db : f.dw)[mine] = whole;
}

static inline Status norm_column_sums(const OpCall *call, const ColumnSums &f)
{
    const dim3 grid(grid_blocks(blocks_for(f.C, 32)), f.db ? 2 : 1);
    return launch_dependent(call->backend, norm_column_sums_kernel, grid, dim3(32, 32), f);
}
