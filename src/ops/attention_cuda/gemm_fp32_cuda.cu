/* A block makes a tile of c; tiles of a and b pass by, DEPTH of k at a time, each lying in shared
 * memory as it lies in memory. Where k runs along its rows a thread reads four of k at once, where
 * k runs down four neighbouring rows or columns. Narrow tiles have few outputs: there groups of
 * threads share k of every tile and add up at the end, in their order. */
#include "ops/attention_cuda/attention_flash_cuda.cuh"
#include "ops/attention_cuda/attention_plain_cuda.cuh"
#include "ops/cuda/gemm_cuda.h"

/* HELD_ROWS x HELD_COLS outputs of a thread, GROUPS that share k. */
template <int ROWS_, int COLS_, int HELD_ROWS_, int HELD_COLS_, int GROUPS_, int DEPTH_,
          int BLOCKS_, bool TRANS_A_, bool TRANS_B_>
struct Fp32Tiles {
    static constexpr bool TRANS_A = TRANS_A_, TRANS_B = TRANS_B_;
    enum {
        ROWS = ROWS_,
        COLS = COLS_,
        HELD_ROWS = HELD_ROWS_,
        HELD_COLS = HELD_COLS_,
        DOWN = ROWS / HELD_ROWS,
        ACROSS = COLS / HELD_COLS,
        GROUPS = GROUPS_,
        GROUP = DOWN * ACROSS, /* threads */
        THREADS = GROUPS * GROUP,
        DEPTH = DEPTH_,
        SHARE = DEPTH / GROUPS, /* of k, for one group */
        BLOCKS = BLOCKS_,       /* on an SM at once */
        /* ---- shared memory, in floats ---- */
        A_ROWS = TRANS_A ? DEPTH : ROWS,
        A_COLS = TRANS_A ? ROWS : DEPTH,
        A_STRIDE = flash_stride<float, A_COLS>,
        B_ROWS = TRANS_B ? COLS : DEPTH,
        B_COLS = TRANS_B ? DEPTH : COLS,
        B_STRIDE = flash_stride<float, B_COLS>,
        B = A_ROWS * A_STRIDE,
        STAGE = B + B_ROWS * B_STRIDE,
        SUMS = (GROUPS - 1) * ROWS * COLS, /* when the last stage has been read */
        BYTES = (2 * STAGE > SUMS ? 2 * STAGE : SUMS) * 4
    };
    static_assert(GROUP % 32 == 0 && SHARE % 4 == 0, "whole warps, four of k at a time");
};

/* A thread's place in its group: a warp is 4 x 8 threads, or 8 x 4. */
template <class C> struct Fp32Place {
    int group, down, across;
    __device__ __forceinline__ Fp32Place()
    {
        constexpr int WIDE = C::ACROSS < 8 ? C::ACROSS : 8, HIGH = 32 / WIDE;
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x % C::GROUP / 32;
        group = (int)threadIdx.x / C::GROUP;
        across = warp % (C::ACROSS / WIDE) * WIDE + lane % WIDE;
        down = warp / (C::ACROSS / WIDE) * HIGH + lane / WIDE;
    }
};

/* Row or column number i of a thread at `place` of `places`: neighbours where four are read at once. */
template <bool FOURS> __device__ __forceinline__ int fp32_held(int i, int place, int places)
{
    return FOURS ? i / 4 * (4 * places) + place * 4 + i % 4 : i * places + place;
}

/* What a thread holds of one operand for four of k, x[e][i]; FOURS where k runs down. */
template <bool FOURS, int HELD, int STRIDE>
__device__ __forceinline__ void fp32_fetch(float (&x)[4][HELD], const float *tile, int k, int place,
                                           int places)
{
#pragma unroll
    for (int i = 0; i < HELD; i += FOURS ? 4 : 1) {
#pragma unroll
        for (int e = 0; e < (FOURS ? 4 : 1); e++) {
            float v[4];
            const int at = fp32_held<FOURS>(i, place, places);
            plain_read<4>(v, tile + (FOURS ? (k + e) * STRIDE + at : at * STRIDE + k));
#pragma unroll
            for (int f = 0; f < 4; f++) x[FOURS ? e : f][FOURS ? i + f : i] = v[f];
        }
    }
}

template <class C>
__device__ __forceinline__ void fp32_load(float *stage, const GemmFp32 &p, const float *a,
                                          const float *b, int row, int col, int k)
{
    const int a_row = C::TRANS_A ? k : row, a_col = C::TRANS_A ? row : k;
    const int b_row = C::TRANS_B ? col : k, b_col = C::TRANS_B ? k : col;
    flash_load_vectors<C::A_ROWS, C::A_COLS, C::THREADS>(stage, a + a_row * p.a.ld + a_col, p.a.ld,
                                                         (C::TRANS_A ? p.k : p.m) - a_row,
                                                         (C::TRANS_A ? p.m : p.k) - a_col);
    flash_load_vectors<C::B_ROWS, C::B_COLS, C::THREADS>(stage + C::B, b + b_row * p.b.ld + b_col,
                                                         p.b.ld, (C::TRANS_B ? p.n : p.k) - b_row,
                                                         (C::TRANS_B ? p.k : p.n) - b_col);
}

template <class C>
__device__ __forceinline__ void fp32_multiply(float (&c)[C::HELD_ROWS][C::HELD_COLS],
                                              const float *stage, const Fp32Place<C> &at)
{
#pragma unroll
    for (int n = 0; n < C::SHARE; n += 4) {
        const int k = at.group * C::SHARE + n;
        float a[4][C::HELD_ROWS], b[4][C::HELD_COLS];
        fp32_fetch<!C::TRANS_B, C::HELD_COLS, C::B_STRIDE>(b, stage + C::B, k, at.across,
                                                           C::ACROSS);
        fp32_fetch<C::TRANS_A, C::HELD_ROWS, C::A_STRIDE>(a, stage, k, at.down, C::DOWN);
#pragma unroll
        for (int e = 0; e < 4; e++) {
#pragma unroll
            for (int i = 0; i < C::HELD_ROWS; i++) {
#pragma unroll
                for (int j = 0; j < C::HELD_COLS; j++) c[i][j] = fmaf(a[e][i], b[e][j], c[i][j]);
            }
        }
    }
}

/* The first group gets the sums of all. */
template <class C>
__device__ __forceinline__ void fp32_sum_groups(float (&c)[C::HELD_ROWS][C::HELD_COLS], float *sums,
                                                const Fp32Place<C> &at)
{
    enum { EACH = C::HELD_ROWS * C::HELD_COLS };
    const int thread = (int)threadIdx.x % C::GROUP;
    __syncthreads(); /* stages are no longer read */
    if (at.group > 0) {
        float *mine = sums + (at.group - 1) * EACH * C::GROUP + thread;
#pragma unroll
        for (int i = 0; i < EACH; i++) mine[i * C::GROUP] = c[i / C::HELD_COLS][i % C::HELD_COLS];
    }
    __syncthreads();
    for (int g = 0; g < C::GROUPS - 1 && at.group == 0; g++) {
        const float *theirs = sums + g * EACH * C::GROUP + thread;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            c[i / C::HELD_COLS][i % C::HELD_COLS] += theirs[i * C::GROUP];
    }
}

template <class C>
__device__ __forceinline__ void fp32_store(float *to, const GemmFp32 &p,
                                           const float (&c)[C::HELD_ROWS][C::HELD_COLS], int row,
                                           int col, const Fp32Place<C> &at)
{
#pragma unroll
    for (int i = 0; i < C::HELD_ROWS; i++) {
        const int r = row + fp32_held<C::TRANS_A>(i, at.down, C::DOWN);
        if (r >= p.m) continue;
        float *line = to + r * p.c.ld;
#pragma unroll
        for (int j = 0; j < C::HELD_COLS; j += C::TRANS_B ? 1 : 4) {
            const int at_col = col + fp32_held<!C::TRANS_B>(j, at.across, C::ACROSS);
            if (at_col >= p.n) continue;
            if constexpr (C::TRANS_B) {
                line[at_col] = c[i][j] * p.scale;
            } else {
                *reinterpret_cast<float4 *>(line + at_col) =
                    float4{c[i][j] * p.scale, c[i][j + 1] * p.scale, c[i][j + 2] * p.scale,
                           c[i][j + 3] * p.scale};
            }
        }
    }
}

__device__ __forceinline__ float *fp32_matrix(const Fp32Stack &s, int heads, int item)
{
    return s.data + item / heads * s.batch_step + item % heads * s.head_step;
}

/* Of a stack that may have one for `group` heads. */
__device__ __forceinline__ float *fp32_shared_matrix(const Fp32Stack &s, const GemmFp32 &p,
                                                     bool shared, int item)
{
    return shared ? fp32_matrix(s, p.heads / p.group, item / p.group)
                  : fp32_matrix(s, p.heads, item);
}

/* SHARED: heads share matrices of b, or of c, which are then sums over the heads, one after the other. */
template <class C, bool SHARED>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS) matmul_fp32_kernel(const GemmFp32 p)
{
    extern __shared__ __align__(16) float stages[];
    const int across = flash_blocks(p.n, C::COLS), tiles = across * flash_blocks(p.m, C::ROWS);
    const int item = (int)(blockIdx.x / tiles), tile = (int)(blockIdx.x % tiles);
    const int row = tile / across * C::ROWS, col = tile % across * C::COLS;
    const int heads = SHARED && p.c_shared ? p.group : 1, first = item * heads;
    const float *a = fp32_matrix(p.a, p.heads, first);
    const float *b = fp32_shared_matrix(p.b, p, SHARED && p.b_shared, first);
    const Fp32Place<C> at;
    float c[C::HELD_ROWS][C::HELD_COLS] = {};
    for (int head = first;;) {
        fp32_load<C>(stages, p, a, b, row, col, 0);
        for (int k = 0, stage = 0; k < p.k; k += C::DEPTH, stage ^= 1) {
            ptx_await_copies();
            __syncthreads(); /* this stage is whole, and the other one no longer read */
            if (k + C::DEPTH < p.k) {
                fp32_load<C>(stages + (stage ^ 1) * C::STAGE, p, a, b, row, col, k + C::DEPTH);
            }
            fp32_multiply<C>(c, stages + stage * C::STAGE, at);
        }
        if (!SHARED || ++head == first + heads) break;
        __syncthreads(); /* stages are no longer read */
        a = fp32_matrix(p.a, p.heads, head);
        b = fp32_shared_matrix(p.b, p, p.b_shared, head);
    }
    if (C::GROUPS > 1) fp32_sum_groups<C>(c, stages, at);
    if (at.group == 0) {
        fp32_store<C>(fp32_shared_matrix(p.c, p, SHARED && p.c_shared, first), p, c, row, col, at);
    }
}

/* ---- host side ---- */

/* <rows, columns, of which a thread has, groups, depth, blocks on an SM> */
using Fp32Scores = Fp32Tiles<128, 64, 8, 8, 1, 16, 3, false, true>;
template <bool TA> using Fp32To64 = Fp32Tiles<64, 64, 8, 8, 4, 64, 2, TA, false>;
template <bool TA> using Fp32To32 = Fp32Tiles<64, 32, 8, 4, 4, 64, 2, TA, false>;
template <bool TA> using Fp32To16 = Fp32Tiles<64, 16, 4, 4, 4, 128, 2, TA, false>;

template <class C, bool SHARED>
static Status launch_form(const Backend *be, const GemmFp32 *p, bool prepare)
{
    if (prepare)
        return CUDA_STATUS(cudaFuncSetAttribute((const void *)matmul_fp32_kernel<C, SHARED>,
                                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                C::BYTES));
    const unsigned blocks = (unsigned)(p->count / (p->c_shared ? p->group : 1) *
                                       blocks_for(p->m, C::ROWS) * blocks_for(p->n, C::COLS));
    matmul_fp32_kernel<C, SHARED><<<blocks, C::THREADS, C::BYTES, be->stream>>>(*p);
    return LAUNCH_STATUS();
}

template <class C> static Status launch(const Backend *be, const GemmFp32 *p, bool prepare)
{
    const bool shared = p->b_shared || p->c_shared;
    return shared ? launch_form<C, true>(be, p, prepare) : launch_form<C, false>(be, p, prepare);
}

template <template <bool> class Tiles>
static Status by_form(const Backend *be, const GemmFp32 *p, bool prepare)
{
    return p->transpose_a ? launch<Tiles<true>>(be, p, prepare)
                          : launch<Tiles<false>>(be, p, prepare);
}

Status gemm_fp32_cuda(const Backend *be, const GemmFp32 *p, bool prepare)
{
    if (p->transpose_b) return launch<Fp32Scores>(be, p, prepare);
    if (p->n <= 16) return by_form<Fp32To16>(be, p, prepare);
    if (p->n <= 32) return by_form<Fp32To32>(be, p, prepare);
    return by_form<Fp32To64>(be, p, prepare);
}
