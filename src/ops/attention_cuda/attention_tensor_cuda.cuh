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

/* ---- fragments of an operand, each with fetch(x, at, k): rows `at` of the result (left) or its
 * columns (right), from k on ---- */

/* In a tile. k runs along its rows, or DOWN its columns. */
template <typename E, int STRIDE, bool LEFT, bool DOWN> struct TensorTile {
    uint32_t start; /* what this lane names of the first fragment */
    __device__ __forceinline__ explicit TensorTile(const E *tile)
    {
        /* matrices below each other come first, or those side by side */
        constexpr bool below = LEFT != DOWN;
        const int lane = tensor_lane();
        const int row = below ? lane % 16 : lane / 16 * 8 + lane % 8;
        const int side = below ? lane / 16 : lane / 8 % 2;
        start = DOWN ? ptx_shared_address(tile + row * STRIDE + side * 8)
                     : ptx_shared_address(tile + row * STRIDE) + (uint32_t)(side * 16);
    }
    __device__ __forceinline__ void fetch(uint32_t (&x)[4], int at, int k) const
    {
        const int place = DOWN ? k * STRIDE + at : at * STRIDE + k;
        ptx_load_matrices<DOWN>(x, start + (uint32_t)(place * (int)sizeof(E)));
        if constexpr (sizeof(E) == 4) {
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = ptx_round_tf32(__uint_as_float(x[i]));
        }
    }
};

template <int STRIDE, bool LEFT> struct TensorTile<float, STRIDE, LEFT, true> {
    const float *start;
    __device__ __forceinline__ explicit TensorTile(const float *tile)
        : start(tile + tensor_lane() % 4 * 2 * STRIDE + tensor_lane() / 4)
    {
    }
    __device__ __forceinline__ void fetch(uint32_t (&x)[4], int at, int k) const
    {
        const float *p = start + k * STRIDE + at;
        x[0] = ptx_round_tf32(p[0]);
        x[LEFT ? 1 : 2] = ptx_round_tf32(p[8]);
        x[LEFT ? 2 : 1] = ptx_round_tf32(p[STRIDE]);
        x[3] = ptx_round_tf32(p[STRIDE + 8]);
    }
};

/* In accumulators: the left operand. */
template <typename E, int ROWS, int COLS> struct TensorScores {
    const float (&s)[ROWS][COLS];
    __device__ __forceinline__ void fetch(uint32_t (&x)[4], int at, int k) const
    {
        const int i = at / 8, j = k / 4; /* of this thread's share */
        if constexpr (sizeof(E) == 4) {
            x[0] = ptx_round_tf32(s[i][j]);
            x[1] = ptx_round_tf32(s[i + 1][j]);
            x[2] = ptx_round_tf32(s[i][j + 1]);
            x[3] = ptx_round_tf32(s[i + 1][j + 1]);
        } else {
            x[0] = round_pair(E(), s[i][j], s[i][j + 1]);
            x[1] = round_pair(E(), s[i + 1][j], s[i + 1][j + 1]);
            x[2] = round_pair(E(), s[i][j + 2], s[i][j + 3]);
            x[3] = round_pair(E(), s[i + 1][j + 2], s[i + 1][j + 3]);
        }
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

    template <int K, int N, class Left, class Right>
    static __device__ __forceinline__ void multiply(float (&c)[HELD_ROWS][N / 4], const Left &left,
                                                    const Right &right)
    {
#pragma unroll
        for (int k = 0; k < K; k += STEP) {
            uint32_t a[M][4], b[4];
#pragma unroll
            for (int m = 0; m < M; m++) left.fetch(a[m], 16 * m, k);
#pragma unroll
            for (int n = 0; n < N; n += 8) {
                const int j = n / 4, half = n % 16 / 4;
                if (half == 0) right.fetch(b, n, k); /* of 16 columns */
#pragma unroll
                for (int m = 0; m < M; m++) {
                    ptx_mma<E>(c[2 * m][j], c[2 * m][j + 1], c[2 * m + 1][j], c[2 * m + 1][j + 1],
                               a[m], b[half], b[half + 1]);
                }
            }
        }
    }

    /* c[m][n] += sum over k < K of left[m][k] right[n][k]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_nt(float (&c)[HELD_ROWS][N / 4], const E *left,
                                                       const E *right)
    {
        multiply<K, N>(c, TensorTile<E, LEFT_STRIDE, true, false>(left),
                       TensorTile<E, RIGHT_STRIDE, false, false>(right));
    }

    /* c[m][n] += sum over k < K of s[m][k] right[k][n], s being this warp's own scores. */
    template <int K, int N, int STRIDE>
    static __device__ __forceinline__ void multiply_nn(float (&c)[HELD_ROWS][N / 4],
                                                       const float (&s)[HELD_ROWS][K / 4],
                                                       const E *, const E *right)
    {
        multiply<K, N>(c, TensorScores<E, HELD_ROWS, K / 4>{s},
                       TensorTile<E, STRIDE, false, true>(right));
    }

    /* c[m][n] += sum over k < K of left[k][m] right[k][n]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_tn(float (&c)[HELD_ROWS][N / 4], const E *left,
                                                       const E *right)
    {
        multiply<K, N>(c, TensorTile<E, LEFT_STRIDE, true, true>(left),
                       TensorTile<E, RIGHT_STRIDE, false, true>(right));
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
