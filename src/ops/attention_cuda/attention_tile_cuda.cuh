/* Tiles of attention's operands in shared memory: rows of COLS elements and a gap of 16 bytes, so that
 * eight rows begin at eight different groups of four banks and no access to a column conflicts. */
#pragma once

#include "ops/attention_cuda/attention_flash_cuda.cuh"
#include "ops/attention_cuda/attention_ptx_cuda.cuh"

/* Elements from row to row. */
template <typename E, int COLS> constexpr int flash_stride = COLS + 16 / (int)sizeof(E);

__host__ __device__ constexpr int flash_common_divisor(int a, int b)
{
    return b == 0 ? a : flash_common_divisor(b, a % b);
}

/* Copies of 16 bytes that arrive later. A thread keeps to its columns, so that addresses are sums. */
template <int ROWS, int COLS, int THREADS, typename E>
__device__ __forceinline__ void flash_load_vectors(E *tile, const E *from, int64_t ld, int rows,
                                                   int cols)
{
    constexpr int VECTOR = 16 / sizeof(E), VECTORS = COLS / VECTOR;
    constexpr int ACROSS = flash_common_divisor(VECTORS, THREADS), DOWN = THREADS / ACROSS;
    const int first = (int)threadIdx.x / ACROSS, column = (int)threadIdx.x % ACROSS * VECTOR;
    const E *source = from + first * ld + column;
    E *target = tile + first * flash_stride<E, COLS> + column;
#pragma unroll
    for (int i = 0; i < flash_blocks(ROWS, DOWN); i++) {
        if (ROWS % DOWN != 0 && first + i * DOWN >= ROWS) break;
#pragma unroll
        for (int c = 0; c < COLS; c += ACROSS * VECTOR) {
            const bool there = first + i * DOWN < rows && column + c < cols;
            ptx_copy16(target + i * DOWN * flash_stride<E, COLS> + c, there ? source + c : from,
                       there);
        }
        source += DOWN * ld;
    }
}

/* Operand alignment, at once. */
template <int ROWS, int COLS, int THREADS, typename E>
__device__ __forceinline__ void flash_load_elements(E *tile, const E *from, int64_t ld, int rows,
                                                    int cols)
{
    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
        const int row = i / COLS, column = i % COLS;
        tile[row * flash_stride<E, COLS> + column] =
            row < rows && column < cols ? from[row * ld + column] : from_float<E>(0);
    }
}

/* ROWS x COLS of a head, from that row and column on; zeros beyond its end. */
template <int ROWS, int COLS, int THREADS, typename E>
__device__ __forceinline__ void flash_load(E *tile, const FlashMatrix &m, const FlashShape &s,
                                           FlashHead head, int row, int column)
{
    const E *from = flash_start<const E>(m, head, row, column);
    if (s.vectorized) {
        flash_load_vectors<ROWS, COLS, THREADS>(tile, from, m.ld, s.T - row, s.D - column);
    } else {
        flash_load_elements<ROWS, COLS, THREADS>(tile, from, m.ld, s.T - row, s.D - column);
    }
}

/* N floats of memory, zeros beyond `n`. */
template <int N, int THREADS>
__device__ __forceinline__ void flash_load_floats(float *tile, const float *from, int n)
{
    for (int i = threadIdx.x; i < N; i += THREADS)
        ptx_copy4(tile + i, i < n ? from + i : from, i < n);
}

__device__ __forceinline__ void flash_store_pair(float *to, float low, float high)
{
    *reinterpret_cast<float2 *>(to) = float2{low, high};
}

template <typename E> __device__ __forceinline__ void flash_store_pair(E *to, float low, float high)
{
    *reinterpret_cast<uint32_t *>(to) = round_pair(E(), low, high);
}

/* What a warp holds of a result, times `factor`, to a head from that row and column on. Columns
 * 2j and 2j + 1 of a thread are neighbours. */
template <class Layout, typename E, int HELD_ROWS, int HELD_COLS>
__device__ __forceinline__ void flash_store(const FlashMatrix &m, const FlashShape &s,
                                            FlashHead head, int first_row, int first_column,
                                            const float (&x)[HELD_ROWS][HELD_COLS], float factor)
{
    E *to = flash_start<E>(m, head, first_row, first_column);
    const int64_t ld = m.ld;
    const int rows = s.T - first_row, cols = s.D - first_column;
    const bool pairs = s.vectorized;
#pragma unroll
    for (int i = 0; i < HELD_ROWS; i++) {
        if (Layout::row(i) >= rows) continue;
        E *row = to + Layout::row(i) * ld;
#pragma unroll
        for (int j = 0; j < HELD_COLS; j += 2) {
            const int column = Layout::column(j);
            if (pairs && column < cols) {
                flash_store_pair(row + column, x[i][j] * factor, x[i][j + 1] * factor);
            } else {
                if (column < cols) row[column] = from_float<E>(x[i][j] * factor);
                if (column + 1 < cols) row[column + 1] = from_float<E>(x[i][j + 1] * factor);
            }
        }
    }
}
