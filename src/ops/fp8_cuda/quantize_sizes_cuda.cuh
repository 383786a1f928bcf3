/* The pass before: the largest sizes in a matrix, its rows and its columns, where a scale is shared beyond
 * a tile. They lie in the workspace, as bits (ops/fp8_cuda/quantize_tile_cuda.cuh). */
#pragma once

#include "ops/fp8/quantize.h"
#include "ops/fp8_cuda/quantize_tile_cuda.cuh"

/* Where they are; NULL: not asked for. */
struct SizesFound {
    unsigned *partials, *rows, *cols;
    int n_partials;
    bool amax_is_done; /* output `amax` */
};

/* ---- of the whole matrix ---- */

enum { LARGEST_THREADS = 256, LARGEST_ITEMS = 4 };

/* ITEMS accesses of each thread, all on their way before the first is used. */
template <typename T>
__device__ __forceinline__ unsigned vectors_most(const T *row, int64_t first, int64_t cols)
{
    constexpr int W = vector_width<T>;
    Vector<T, W> vector[LARGEST_ITEMS];
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < LARGEST_ITEMS; i++) {
        const int64_t at = first + (int64_t)i * LARGEST_THREADS * W;
        vector[i] = {};
        if (at < cols) load_raw(vector[i], row + at);
    }
#pragma unroll
    for (int i = 0; i < LARGEST_ITEMS; i++) {
        float x[W];
        widen(x, vector[i]);
#pragma unroll
        for (int e = 0; e < W; e++) most = max(most, size_bits(x[e]));
    }
    return most;
}

template <typename T>
__device__ __forceinline__ unsigned elements_most(const T *row, int64_t first, int64_t cols)
{
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < LARGEST_ITEMS; i++) {
        const int64_t at = first + (int64_t)i * LARGEST_THREADS;
        if (at < cols) most = max(most, size_bits(to_float(row[at])));
    }
    return most;
}

/* Blocks take pieces of rows in turn. */
template <typename T, bool VECTORS>
__global__ void __launch_bounds__(LARGEST_THREADS)
    quantize_largest_kernel(const TileMatrix m, unsigned *partials, float *amax)
{
    constexpr int W = VECTORS ? vector_width<T> : 1, PIECE = LARGEST_THREADS * LARGEST_ITEMS * W;
    __shared__ unsigned most;
    wait_for_dependency();
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    const int64_t pieces = (m.cols + PIECE - 1) / PIECE;
    unsigned mine = 0;
    for (int64_t k = blockIdx.x; k < m.rows * pieces; k += gridDim.x) {
        const T *row = static_cast<const T *>(m.x) + k / pieces * m.ld;
        const int64_t first = k % pieces * PIECE + threadIdx.x * W;
        if (VECTORS)
            mine = max(mine, vectors_most(row, first, m.cols));
        else
            mine = max(mine, elements_most(row, first, m.cols));
    }
    mine = lanes_most(mine, 1, 16);
    if (threadIdx.x % 32 == 0) atomicMax(&most, mine);
    __syncthreads();
    if (threadIdx.x != 0) return;
    partials[blockIdx.x] = most;
    if (amax) raise_amax(amax, most);
}

template <typename T, bool VECTORS>
static Status find_largest(const OpCall *call, TileMatrix m, SizesFound *found, float *amax)
{
    constexpr int PIECE = LARGEST_THREADS * LARGEST_ITEMS * (VECTORS ? vector_width<T> : 1);
    if (m.ld == m.cols) m = {m.x, 1, m.rows * m.cols, m.rows * m.cols}; /* as one row */
    const int64_t pieces = m.rows * blocks_for(m.cols, PIECE);
    found->n_partials = (int)std::min<int64_t>(pieces, GPU_SUPPORT_FP8_PARTIALS);
    return launch_dependent(call->backend, quantize_largest_kernel<T, VECTORS>,
                            dim3((unsigned)found->n_partials), dim3(LARGEST_THREADS), m,
                            found->partials, amax);
}

/* ---- of rows and columns ---- */

static __global__ void __launch_bounds__(THREADS) quantize_clear_kernel(unsigned *words, int64_t n)
{
    wait_for_dependency();
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i < n) words[i] = 0;
}

template <typename T, bool VECTORS>
__global__ void __launch_bounds__(THREADS, 2)
    quantize_sizes_kernel(const TileMatrix m, unsigned tiles_wide, const SizesFound found,
                          float *amax)
{
    __shared__ TileSizes s;
    wait_for_dependency();
    const TilePlace p = tile_place(tiles_wide);
    float v[HIGH][WIDE];
    tile_load<T, VECTORS>(v, m, p);
    tile_clear(s);
    __syncthreads();
    if (found.rows || amax) tile_note_rows(s, v, p);
    if (found.cols) tile_note_cols(s, v, p);
    __syncthreads();
    const int t = threadIdx.x % TILE;
    const int64_t row = p.first_row() + t, col = p.first_col() + t;
    if (threadIdx.x < TILE && found.rows && row < m.rows) atomicMax(&found.rows[row], s.row[t]);
    if (threadIdx.x / TILE == 1 && found.cols && col < m.cols)
        atomicMax(&found.cols[col], s.col[t]);
    if (!amax) return;
    tile_note_all(s);
    if (threadIdx.x == 0) raise_amax(amax, s.all);
}

template <typename T, bool VECTORS>
static Status find_rows_and_cols(const OpCall *call, const TileMatrix &m, int64_t words,
                                 SizesFound *found, float *amax)
{
    const unsigned tiles_wide = (unsigned)blocks_for(m.cols, TILE);
    const int64_t tiles = blocks_for(m.rows, TILE) * tiles_wide;
    TRY(launch_dependent(call->backend, quantize_clear_kernel,
                         dim3(grid_blocks(blocks_for(words, THREADS))), dim3(THREADS),
                         found->rows ? found->rows : found->cols, words));
    return launch_dependent(call->backend, quantize_sizes_kernel<T, VECTORS>,
                            dim3(grid_blocks(tiles)), dim3(THREADS), m, tiles_wide, *found, amax);
}

/* Nothing is launched where scales are shared within tiles alone, or given. */
template <typename T, bool VECTORS> static Status sizes_find(const OpCall *call, SizesFound *found)
{
    const GpuSupportSizes sizes = gpu_support_fp8_sizes(call->plan, call->node);
    const Tensor *x = op_in_shape(call, QUANTIZE_IN_X);
    const TileMatrix m = {op_in(call, QUANTIZE_IN_X), plan_rows(x), plan_width(x), x->ld};
    unsigned *words = (unsigned *)call->workspace;
    float *amax = (float *)op_out(call, QUANTIZE_OUT_AMAX);
    *found = {};
    if (sizes.partials > 0) {
        found->partials = words;
        TRY((find_largest<T, VECTORS>(call, m, found, amax)));
        found->amax_is_done = true;
        amax = nullptr;
    }
    if (sizes.rows + sizes.cols == 0) return ST_OK;
    found->rows = sizes.rows > 0 ? words + sizes.partials : nullptr;
    found->cols = sizes.cols > 0 ? words + sizes.partials + sizes.rows : nullptr;
    found->amax_is_done = true;
    return find_rows_and_cols<T, VECTORS>(call, m, sizes.rows + sizes.cols, found, amax);
}
