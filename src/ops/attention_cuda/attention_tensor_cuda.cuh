/* A warp's GEMMs on tensor cores, for bf16, fp16 and (float) tf32.
 *
 * A step along k takes 32 bytes of a row: 16 elements of 16 bits or 8 floats. So fragments of both have
 * the same words, and `ldmatrix` fills them wherever k runs along the rows of a tile. Where k runs down
 * the columns, 16-bit matrices are turned on the way; floats are read one by one, k in the order in
 * which an accumulator holds its columns (2t, then 2t + 1), because a sum over k has no order. */
#pragma once

#include "ops/attention_cuda/attention_tile_cuda.cuh"

__device__ __forceinline__ int tensor_lane()
{
    return (int)threadIdx.x % 32;
}

/* ---- words as the tensor cores want them ---- */
template <typename E> __device__ __forceinline__ void tensor_round(uint32_t (&)[4])
{
}
template <> __device__ __forceinline__ void tensor_round<float>(uint32_t (&x)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = ptx_round_tf32(__uint_as_float(x[i]));
}

/* The left operand's fragment from accumulators: rows 2m and 2m + 1 of a thread, and the columns that
 * belong to step `k`. */
template <typename E, int ROWS, int COLS>
__device__ __forceinline__ void tensor_left(E, uint32_t (&a)[4], const float (&s)[ROWS][COLS],
                                            int m, int k)
{
    const int j = 4 * k;
    a[0] = round_pair(E(), s[2 * m][j], s[2 * m][j + 1]);
    a[1] = round_pair(E(), s[2 * m + 1][j], s[2 * m + 1][j + 1]);
    a[2] = round_pair(E(), s[2 * m][j + 2], s[2 * m][j + 3]);
    a[3] = round_pair(E(), s[2 * m + 1][j + 2], s[2 * m + 1][j + 3]);
}

template <int ROWS, int COLS>
__device__ __forceinline__ void tensor_left(float, uint32_t (&a)[4], const float (&s)[ROWS][COLS],
                                            int m, int k)
{
    a[0] = ptx_round_tf32(s[2 * m][2 * k]);
    a[1] = ptx_round_tf32(s[2 * m + 1][2 * k]);
    a[2] = ptx_round_tf32(s[2 * m][2 * k + 1]);
    a[3] = ptx_round_tf32(s[2 * m + 1][2 * k + 1]);
}

/* ---- fragments of tiles where k runs down: a lane's first address, then what lies at an offset ---- */

/* Right operand: b[0], b[1] of eight columns, b[2], b[3] of the next eight. */
template <typename E, int STRIDE> struct TensorTransposedRight {
    uint32_t start;
    __device__ __forceinline__ explicit TensorTransposedRight(const E *tile)
    {
        const int lane = tensor_lane();
        start = ptx_shared_address(tile + lane % 16 * STRIDE + lane / 16 * 8);
    }
    __device__ __forceinline__ void fetch(uint32_t (&b)[4], int k, int column) const
    {
        ptx_load_matrices_trans(b, start + (uint32_t)((k * STRIDE + column) * (int)sizeof(E)));
    }
};

template <int STRIDE> struct TensorTransposedRight<float, STRIDE> {
    const float *start;
    __device__ __forceinline__ explicit TensorTransposedRight(const float *tile)
        : start(tile + tensor_lane() % 4 * 2 * STRIDE + tensor_lane() / 4)
    {
    }
    __device__ __forceinline__ void fetch(uint32_t (&b)[4], int k, int column) const
    {
        const float *p = start + k * STRIDE + column;
        b[0] = ptx_round_tf32(p[0]);
        b[1] = ptx_round_tf32(p[STRIDE]);
        b[2] = ptx_round_tf32(p[8]);
        b[3] = ptx_round_tf32(p[STRIDE + 8]);
    }
};

/* Left operand: 16 rows of the result are 16 columns of the tile. */
template <typename E, int STRIDE> struct TensorTransposedLeft {
    uint32_t start;
    __device__ __forceinline__ explicit TensorTransposedLeft(const E *tile)
    {
        const int lane = tensor_lane();
        start = ptx_shared_address(tile + (lane / 16 * 8 + lane % 8) * STRIDE + lane / 8 % 2 * 8);
    }
    __device__ __forceinline__ void fetch(uint32_t (&a)[4], int k, int column) const
    {
        ptx_load_matrices_trans(a, start + (uint32_t)((k * STRIDE + column) * (int)sizeof(E)));
    }
};

template <int STRIDE> struct TensorTransposedLeft<float, STRIDE> {
    const float *start;
    __device__ __forceinline__ explicit TensorTransposedLeft(const float *tile)
        : start(tile + tensor_lane() % 4 * 2 * STRIDE + tensor_lane() / 4)
    {
    }
    __device__ __forceinline__ void fetch(uint32_t (&a)[4], int k, int column) const
    {
        const float *p = start + k * STRIDE + column;
        a[0] = ptx_round_tf32(p[0]);
        a[1] = ptx_round_tf32(p[8]);
        a[2] = ptx_round_tf32(p[STRIDE]);
        a[3] = ptx_round_tf32(p[STRIDE + 8]);
    }
};

/* ---- fragments of tiles where k runs along the rows ---- */
template <typename E, int STRIDE> struct TensorLeft {
    uint32_t start;
    __device__ __forceinline__ explicit TensorLeft(const E *tile)
    {
        const int lane = tensor_lane();
        start = ptx_shared_address(tile + lane % 16 * STRIDE) + (uint32_t)(lane / 16 * 16);
    }
    __device__ __forceinline__ void fetch(uint32_t (&a)[4], int row, int k) const
    {
        ptx_load_matrices(a, start + (uint32_t)((row * STRIDE + k) * (int)sizeof(E)));
        tensor_round<E>(a);
    }
};

template <typename E, int STRIDE> struct TensorRight {
    uint32_t start;
    __device__ __forceinline__ explicit TensorRight(const E *tile)
    {
        const int lane = tensor_lane();
        start = ptx_shared_address(tile + (lane / 16 * 8 + lane % 8) * STRIDE) +
                (uint32_t)(lane / 8 % 2 * 16);
    }
    __device__ __forceinline__ void fetch(uint32_t (&b)[4], int row, int k) const
    {
        ptx_load_matrices(b, start + (uint32_t)((row * STRIDE + k) * (int)sizeof(E)));
        tensor_round<E>(b);
    }
};

/* ---- the GEMMs of a warp: 16 M rows, columns shared by all lanes of a group of four ---- */
template <typename E, int M> struct TensorWarp {
    using Element = E;
    enum { ROWS = 16 * M, HELD_ROWS = 2 * M, STEP = 32 / (int)sizeof(E), ROW_LANES = 4 };
    static constexpr bool stashes = false; /* a result is the next GEMM's left operand as it is */
    static constexpr int score_gap = 8;    /* elements between rows of scores */

    /* Where element [i][j] of a thread's share of a result with N columns is. */
    template <int N> struct Share {
        enum { HELD = HELD_ROWS, COLS = N / 4 };
        static __device__ __forceinline__ int row(int i)
        {
            return i * 8 + tensor_lane() / 4;
        }
        static __device__ __forceinline__ int column(int j)
        {
            return j / 2 * 8 + tensor_lane() % 4 * 2 + j % 2;
        }
    };
    template <int N> using Scores = Share<N>;
    template <int N> using Values = Share<N>;
    template <int N> using Transposed = Share<N>;

    template <int COLS>
    static __device__ __forceinline__ void mma(float (&c)[HELD_ROWS][COLS], int column,
                                               const uint32_t (&a)[M][4], const uint32_t (&b)[4])
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int j = column / 4 + 2 * half;
#pragma unroll
            for (int m = 0; m < M; m++) {
                ptx_mma(E(), c[2 * m][j], c[2 * m][j + 1], c[2 * m + 1][j], c[2 * m + 1][j + 1],
                        a[m], b[2 * half], b[2 * half + 1]);
            }
        }
    }

    /* c[m][n] += sum over k < K of left[m][k] right[n][k]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_nt(float (&c)[HELD_ROWS][N / 4], const E *left,
                                                       const E *right)
    {
        const TensorLeft<E, LEFT_STRIDE> l(left);
        const TensorRight<E, RIGHT_STRIDE> r(right);
#pragma unroll
        for (int k = 0; k < K; k += STEP) {
            uint32_t a[M][4], b[4];
#pragma unroll
            for (int m = 0; m < M; m++) l.fetch(a[m], 16 * m, k);
#pragma unroll
            for (int n = 0; n < N; n += 16) {
                r.fetch(b, n, k);
                mma(c, n, a, b);
            }
        }
    }

    /* c[m][n] += sum over k < K of s[m][k] right[k][n], s being this warp's own scores. */
    template <int K, int N, int STRIDE>
    static __device__ __forceinline__ void multiply_nn(float (&c)[HELD_ROWS][N / 4],
                                                       const float (&s)[HELD_ROWS][K / 4],
                                                       const E *, const E *right)
    {
        const TensorTransposedRight<E, STRIDE> r(right);
#pragma unroll
        for (int k = 0; k < K; k += STEP) {
            uint32_t a[M][4], b[4];
#pragma unroll
            for (int m = 0; m < M; m++) tensor_left(E(), a[m], s, m, k / STEP);
#pragma unroll
            for (int n = 0; n < N; n += 16) {
                r.fetch(b, k, n);
                mma(c, n, a, b);
            }
        }
    }

    /* c[m][n] += sum over k < K of left[k][m] right[k][n]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_tn(float (&c)[HELD_ROWS][N / 4], const E *left,
                                                       const E *right)
    {
        const TensorTransposedLeft<E, LEFT_STRIDE> l(left);
        const TensorTransposedRight<E, RIGHT_STRIDE> r(right);
#pragma unroll
        for (int k = 0; k < K; k += STEP) {
            uint32_t a[M][4], b[4];
#pragma unroll
            for (int m = 0; m < M; m++) l.fetch(a[m], k, 16 * m);
#pragma unroll
            for (int n = 0; n < N; n += 16) {
                r.fetch(b, k, n);
                mma(c, n, a, b);
            }
        }
    }

    /* Scores to a tile, rounded. */
    template <int N, int STRIDE>
    static __device__ __forceinline__ void store_scores(E *tile, const float (&s)[HELD_ROWS][N / 4])
    {
#pragma unroll
        for (int i = 0; i < HELD_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < N / 4; j += 2) {
                flash_store_pair(tile + Share<N>::row(i) * STRIDE + Share<N>::column(j), s[i][j],
                                 s[i][j + 1]);
            }
        }
    }
};
