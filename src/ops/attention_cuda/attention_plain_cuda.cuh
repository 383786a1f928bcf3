/* A warp's GEMMs in true fp32, without tensor cores: 16 rows, of which a thread has every
 * second one and, with 15 others, a share of the columns. Operands are read four floats at a time along
 * k, or along the columns where k runs down. */
#pragma once

#include "ops/attention_cuda/attention_tile_cuda.cuh"

__device__ __forceinline__ float4 plain_read4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

/* W neighbouring floats in one access: two or four. */
template <int W> __device__ __forceinline__ void plain_read(float *to, const float *p)
{
    Vector<float, W> x;
    load_raw(x, p);
#pragma unroll
    for (int i = 0; i < W; i++) to[i] = x.v[i];
}

__host__ __device__ constexpr int plain_smaller(int a, int b)
{
    return a < b ? a : b;
}

struct PlainWarp {
    using Element = float;
    enum { ROWS = 16, HELD_ROWS = 8, ROW_LANES = 16, UNROLL = 4 };
    static constexpr bool stashes = true; /* other lanes' scores are read from shared memory */
    static constexpr int score_gap = 4;

    static __device__ __forceinline__ int lane()
    {
        return (int)threadIdx.x % 32;
    }
    static __device__ __forceinline__ int held_row(int i)
    {
        return 2 * i + lane() / 16;
    }

    /* Neighbouring lanes have neighbouring columns: rows of the right operand, conflict-free. */
    template <int N> struct Scores {
        enum { HELD = HELD_ROWS, COLS = N / 16 };
        static __device__ __forceinline__ int row(int i)
        {
            return held_row(i);
        }
        static __device__ __forceinline__ int column(int j)
        {
            return lane() % 16 + 16 * j;
        }
    };

    /* A thread has W neighbouring columns. */
    template <int N> struct Values {
        enum { HELD = HELD_ROWS, COLS = N / 16, W = plain_smaller(4, COLS) };
        static __device__ __forceinline__ int row(int i)
        {
            return held_row(i);
        }
        static __device__ __forceinline__ int column(int j)
        {
            return j / W * (16 * W) + lane() % 16 * W + j % W;
        }
    };

    /* Of multiply_tn(): four neighbouring rows and W neighbouring columns. */
    template <int N> struct Transposed {
        enum { HELD = 4, COLS = N / 8, W = plain_smaller(4, COLS) };
        static __device__ __forceinline__ int row(int i)
        {
            return lane() / 8 * 4 + i;
        }
        static __device__ __forceinline__ int column(int j)
        {
            return j / W * (8 * W) + lane() % 8 * W + j % W;
        }
    };

    /* c[m][n] += sum over k < K of left[m][k] right[n][k]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_nt(float (&c)[HELD_ROWS][N / 16],
                                                       const float *left, const float *right)
    {
        left += held_row(0) * LEFT_STRIDE;
        right += lane() % 16 * RIGHT_STRIDE;
#pragma unroll UNROLL
        for (int k = 0; k < K; k += 4) {
            float4 b[N / 16];
#pragma unroll
            for (int j = 0; j < N / 16; j++) b[j] = plain_read4(right + 16 * j * RIGHT_STRIDE + k);
#pragma unroll
            for (int i = 0; i < HELD_ROWS; i++) {
                const float4 a = plain_read4(left + 2 * i * LEFT_STRIDE + k);
#pragma unroll
                for (int j = 0; j < N / 16; j++) {
                    c[i][j] = fmaf(a.x, b[j].x, c[i][j]);
                    c[i][j] = fmaf(a.y, b[j].y, c[i][j]);
                    c[i][j] = fmaf(a.z, b[j].z, c[i][j]);
                    c[i][j] = fmaf(a.w, b[j].w, c[i][j]);
                }
            }
        }
    }

    /* c[m][n] += sum over k < K of scores[m][k] right[k][n]; this warp's scores are in `stash`. */
    template <int K, int N, int STRIDE>
    static __device__ __forceinline__ void multiply_nn(float (&c)[HELD_ROWS][N / 16],
                                                       const float (&)[HELD_ROWS][K / 16],
                                                       const float *stash, const float *right)
    {
        constexpr int W = Values<N>::W, LEFT_STRIDE = K + score_gap;
        stash += held_row(0) * LEFT_STRIDE;
        right += lane() % 16 * W;
#pragma unroll UNROLL
        for (int k = 0; k < K; k += 4) {
            float4 a[HELD_ROWS];
#pragma unroll
            for (int i = 0; i < HELD_ROWS; i++) a[i] = plain_read4(stash + 2 * i * LEFT_STRIDE + k);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float b[N / 16];
#pragma unroll
                for (int j = 0; j < N / 16; j += W) {
                    plain_read<W>(b + j, right + (k + e) * STRIDE + 16 * j);
                }
#pragma unroll
                for (int i = 0; i < HELD_ROWS; i++) {
                    const float x = e == 0 ? a[i].x : e == 1 ? a[i].y : e == 2 ? a[i].z : a[i].w;
#pragma unroll
                    for (int j = 0; j < N / 16; j++) c[i][j] = fmaf(x, b[j], c[i][j]);
                }
            }
        }
    }

    /* c[m][n] += sum over k < K of left[k][m] right[k][n]. */
    template <int K, int N, int LEFT_STRIDE, int RIGHT_STRIDE>
    static __device__ __forceinline__ void multiply_tn(float (&c)[4][N / 8], const float *left,
                                                       const float *right)
    {
        constexpr int W = Transposed<N>::W;
        left += lane() / 8 * 4;
        right += lane() % 8 * W;
#pragma unroll 8
        for (int k = 0; k < K; k++) {
            float a[4], b[N / 8];
            plain_read<4>(a, left + k * LEFT_STRIDE);
#pragma unroll
            for (int j = 0; j < N / 8; j += W)
                plain_read<W>(b + j, right + k * RIGHT_STRIDE + 8 * j);
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < N / 8; j++) c[i][j] = fmaf(a[i], b[j], c[i][j]);
            }
        }
    }

    template <int N, int STRIDE>
    static __device__ __forceinline__ void store_scores(float *tile,
                                                        const float (&s)[HELD_ROWS][N / 16])
    {
#pragma unroll
        for (int i = 0; i < HELD_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < N / 16; j++) {
                tile[Scores<N>::row(i) * STRIDE + Scores<N>::column(j)] = s[i][j];
            }
        }
    }
};
