/* What the kernels of quantize share: a tile of numbers in the registers of a block, and the largest sizes
 * in it.
 *
 * Sizes are compared as the bits of |x|: they grow with it, infinity is larger than all numbers, and NaN
 * larger than infinity, as quantize_larger() has it. The order in which they meet does not matter. */
#pragma once

#include "ops/cuda/launch_cuda.cuh"

/* A tile is 128 x 128 numbers, as large as a square that shares a scale. A thread has 4 rows of 8 columns;
 * a warp has 32 x 32 numbers, 4 threads side by side and 8 below each other; 4 x 4 warps are a tile. */
enum { TILE = 128, THREADS = 512, HIGH = 4, WIDE = 8, WARP_SIDE = 32 };

/* Where a thread's part begins in the tile, and the tile in the matrix. */
struct TilePlace {
    int row, col;
    int64_t tile_row, tile_col; /* in tiles */

    __device__ __forceinline__ int64_t first_row() const
    {
        return tile_row * TILE;
    }
    __device__ __forceinline__ int64_t first_col() const
    {
        return tile_col * TILE;
    }
};

__device__ __forceinline__ TilePlace tile_place(unsigned tiles_wide)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return {warp / 4 * WARP_SIDE + lane / 4 * HIGH, warp % 4 * WARP_SIDE + lane % 4 * WIDE,
            (int64_t)(blockIdx.x / tiles_wide), (int64_t)(blockIdx.x % tiles_wide)};
}

struct TileMatrix {
    const void *x;
    int64_t rows, cols, ld;
};

template <typename T> __device__ __forceinline__ void load_wide(float (&dst)[WIDE], const T *src)
{
    load_vector(dst, src);
}

__device__ __forceinline__ void load_wide(float (&dst)[WIDE], const float *src)
{
    float half[2][WIDE / 2];
    load_vector(half[0], src);
    load_vector(half[1], src + WIDE / 2);
#pragma unroll
    for (int j = 0; j < WIDE; j++) dst[j] = half[j / (WIDE / 2)][j % (WIDE / 2)];
}

/* Zeros beyond the matrix. VECTORS: rows begin at multiples of 16 bytes and are a multiple of 8 long. */
template <typename T, bool VECTORS>
__device__ __forceinline__ void tile_load(float (&v)[HIGH][WIDE], const TileMatrix &m,
                                          const TilePlace &p)
{
    const int64_t row = p.first_row() + p.row, col = p.first_col() + p.col;
    const T *x = static_cast<const T *>(m.x) + row * m.ld + col;
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
#pragma unroll
        for (int j = 0; j < WIDE; j++) v[i][j] = 0;
        if (row + i >= m.rows) continue;
        if (VECTORS) {
            if (col < m.cols) load_wide(v[i], x + i * m.ld);
        } else {
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                if (col + j < m.cols) v[i][j] = to_float(x[i * m.ld + j]);
        }
    }
}

/* ---- largest sizes ---- */

__device__ __forceinline__ unsigned size_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffffU;
}

/* Of those lanes whose numbers differ in the bits `from` to `to`. */
__device__ __forceinline__ unsigned lanes_most(unsigned x, int from, int to)
{
    for (int bit = from; bit <= to; bit *= 2) x = max(x, __shfl_xor_sync(0xffffffffU, x, bit));
    return x;
}

struct TileSizes {
    unsigned row[TILE], col[TILE], all;
};

/* By all threads, before a barrier. */
__device__ __forceinline__ void tile_clear(TileSizes &s)
{
    if (threadIdx.x < TILE) s.row[threadIdx.x] = s.col[threadIdx.x] = 0;
    if (threadIdx.x == 0) s.all = 0;
}

__device__ __forceinline__ void tile_note_rows(TileSizes &s, const float (&v)[HIGH][WIDE],
                                               const TilePlace &p)
{
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
        unsigned most = 0;
#pragma unroll
        for (int j = 0; j < WIDE; j++) most = max(most, size_bits(v[i][j]));
        most = lanes_most(most, 1, 2);
        if (threadIdx.x % 4 == 0) atomicMax(&s.row[p.row + i], most);
    }
}

__device__ __forceinline__ void tile_note_cols(TileSizes &s, const float (&v)[HIGH][WIDE],
                                               const TilePlace &p)
{
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
        unsigned most = 0;
#pragma unroll
        for (int i = 0; i < HIGH; i++) most = max(most, size_bits(v[i][j]));
        most = lanes_most(most, 4, 16);
        if (threadIdx.x % 32 < 4) atomicMax(&s.col[p.col + j], most);
    }
}

/* Of the whole tile, after rows are noted and a barrier; ends with one. */
__device__ __forceinline__ void tile_note_all(TileSizes &s)
{
    if (threadIdx.x < TILE) {
        const unsigned most = lanes_most(s.row[threadIdx.x], 1, 16);
        if (threadIdx.x % 32 == 0) atomicMax(&s.all, most);
    }
    __syncthreads();
}

/* amax stays where it is larger. It is no negative number but for zero and what a test puts there: of ints
 * the order is right for those, too. */
__device__ __forceinline__ void raise_amax(float *amax, unsigned bits)
{
    int *size = reinterpret_cast<int *>(amax);
    if ((int)bits > *static_cast<volatile int *>(size)) atomicMax(size, (int)bits); /* few do */
}
