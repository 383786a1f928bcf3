/* How the thread blocks of the backward kernel are cut, and how they add up dq.
 *
 * dq sums over all keys, hence over blocks. The kernel's five GEMMs need that sum in memory while
 * it runs; computing dq in a pass of its own would take seven. Blocks add to a tile of dq in a
 * fixed order, so that results do not depend on timing: the block on the diagonal first, each when
 * the one before it is done. A block starts KEYS queries before it meets tiles of the block before
 * it, so it seldom waits. Blocks number themselves as they start, hence wait only for blocks that
 * run already. The sum is fp32 and laid out as the threads hold it; the first block writes it, the
 * last one stores the finished dq. */
#pragma once

#include "ops/attention_cuda/attention_tile_cuda.cuh"

/* Sizes of the backward kernel. Heads up to WIDTH; one block makes SLICE columns of dq, dk and dv. */
template <class Warp_, class QueryWarp_, int WIDTH_, int SLICE_, int WARPS_, int QUERIES_,
          int STAGES_, int BLOCKS_>
struct FlashBackwardTiles {
    using Warp = Warp_;
    using QueryWarp = QueryWarp_; /* of the GEMM that makes dq */
    using Element = typename Warp::Element;
    using Scores = typename Warp::template Scores<QUERIES_>;
    using Values = typename Warp::template Values<SLICE_>;
    static constexpr bool general = false;
    enum {
        WIDTH = WIDTH_,
        SLICE = SLICE_,
        SLICES = WIDTH / SLICE,
        WARPS = WARPS_,
        THREADS = 32 * WARPS,
        KEYS = WARPS * Warp::ROWS,
        QUERIES = QUERIES_,
        STAGES = STAGES_,
        BLOCKS = BLOCKS_, /* on an SM at once */
        DOWN = QUERIES / QueryWarp::ROWS,
        ACROSS = WARPS / DOWN, /* how the warps share a tile of dq */
        QUERY_COLS = SLICE / ACROSS,
        STRIDE = flash_stride<Element, WIDTH>,
        SCORE_STRIDE = QUERIES + Warp::score_gap,
        /* ---- shared memory, in elements ---- */
        V = KEYS * STRIDE,
        STAGE = V + KEYS * STRIDE,
        DOUT = QUERIES * STRIDE, /* in a stage, as the next two */
        LSE = DOUT + QUERIES * STRIDE,
        DELTA = LSE + QUERIES * 4 / (int)sizeof(Element),
        STAGE_SIZE = DELTA + QUERIES * 4 / (int)sizeof(Element),
        SCORES = STAGE + STAGES * STAGE_SIZE,
        SCORES_SIZE = KEYS * SCORE_STRIDE,
        BYTES = (SCORES + SCORES_SIZE) * (int)sizeof(Element),
        LAG_BYTES = BYTES + SCORES_SIZE * (int)sizeof(Element), /* with ds twice */
        CAN_LAG = STAGES > 1 /* with one stage a tile needs its second barrier anyway */
    };
    using Share = typename QueryWarp::template Transposed<QUERY_COLS>;
    static_assert(KEYS % QUERIES == 0, "a block's first tile of queries begins at its first key");
    static_assert(DOWN * QueryWarp::ROWS == QUERIES && ACROSS * DOWN == WARPS,
                  "a whole tile of dq");
    static_assert(Share::COLS % 4 == 0, "dq is added four at a time");
};

/* Whether code for this compute capability keeps ds twice: where an SM has 228 KiB of shared memory
 * and that is enough. Known when the kernel is compiled, since at width 64 every register counts: 229
 * TFLOP/s on an H200, 211 when a parameter of the kernel decides. */
template <class C> __host__ __device__ constexpr bool flash_lags(int capability)
{
    return C::CAN_LAG && (capability == 90 || capability == 100 || capability == 103) &&
           C::BLOCKS * (C::LAG_BYTES + 1024) <= 228 * 1024;
}

#ifdef __CUDA_ARCH__
constexpr int FLASH_CAPABILITY = __CUDA_ARCH__ / 10;
#else
constexpr int FLASH_CAPABILITY = 0;
#endif

/* Whether blocks are taken up, and add to dq, from the first one on: in a causal matrix that is the
 * longest, and where there are few of them none must begin when others end (4 x 16 heads of 512
 * tokens in fp32, 0.216 instead of 0.268 ms on an H200). They then meet at the same tile, the last
 * one first, and wait for each other unless a turn is passed on at once, for which a single stage
 * has a barrier. */
template <class C> __host__ __device__ constexpr bool flash_longest_first(const FlashShape &s)
{
    return C::STAGES == 1 && s.level && s.causal;
}

/* Which keys of which matrix a block works on, and the tiles of queries that see them. */
struct FlashBackwardPlace {
    int item, slice, block, key; /* `key` is the first of the block */
    int first, end;              /* tiles */
    int tiles;                   /* in a whole matrix */
};

template <class C>
__device__ __forceinline__ FlashBackwardPlace flash_backward_place(const FlashBackward &f)
{
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(f.ticket, 1);
    __syncthreads();
    const int matrices = f.shape.count * C::SLICES;
    const FlashJob job =
        flash_longest_first<C>(f.shape)
            ? FlashJob{ticket % matrices, ticket / matrices}
            : flash_job(f.shape, ticket, flash_blocks(f.shape.T, C::KEYS), matrices);
    FlashBackwardPlace at;
    at.item = job.matrix / C::SLICES;
    at.slice = job.matrix % C::SLICES;
    at.block = job.block;
    at.key = at.block * C::KEYS;
    at.tiles = flash_blocks(f.shape.T, C::QUERIES);
    at.first = f.shape.causal ? at.key / C::QUERIES : 0;
    at.end = at.tiles;
    if constexpr (C::general) { /* the block's last key is seen by the last of its queries */
        at.end = min(at.tiles, (at.key + C::KEYS + f.shape.window - 2) / C::QUERIES + 1);
    }
    return at;
}

/* ---- turns ---- */

/* The last block that adds to a tile: in a causal matrix the one on the diagonal. */
template <class C> __device__ __forceinline__ int flash_last_block(const FlashShape &s, int tile)
{
    return s.causal ? tile * C::QUERIES / C::KEYS : flash_blocks(s.T, C::KEYS) - 1;
}

/* The first one: of the key at which the window of the tile's first query begins. */
template <class C> __device__ __forceinline__ int flash_first_block(const FlashShape &s, int tile)
{
    return C::general ? max(0, tile * C::QUERIES - s.window + 1) / C::KEYS : 0;
}

/* The block's place in the order of those that add to a tile. */
template <class C>
__device__ __forceinline__ int flash_turn(const FlashShape &s, const FlashBackwardPlace &at,
                                          int tile)
{
    return flash_longest_first<C>(s) ? at.block - flash_first_block<C>(s, tile)
                                     : flash_last_block<C>(s, tile) - at.block;
}

template <class C>
__device__ __forceinline__ bool flash_is_last(const FlashShape &s, const FlashBackwardPlace &at,
                                              int tile)
{
    return at.block == (flash_longest_first<C>(s) ? flash_last_block<C>(s, tile)
                                                  : flash_first_block<C>(s, tile));
}

/* By one thread, after a barrier that follows the block's additions to the tile; and best long after it,
 * when they have arrived. */
template <class C>
__device__ __forceinline__ void flash_pass_on(const FlashBackward &f, const FlashBackwardPlace &at,
                                              int tile)
{
    const int job = at.item * C::SLICES + at.slice;
    if (tile < at.first || flash_is_last<C>(f.shape, at, tile)) return; /* none is left */
    ptx_write_flag(f.done + job * at.tiles + tile, flash_turn<C>(f.shape, at, tile) + 1);
}

/* By one thread, before a barrier that the block's additions to the tile follow. */
template <class C>
__device__ __forceinline__ void flash_await_turn(const FlashBackward &f,
                                                 const FlashBackwardPlace &at, int tile)
{
    const int *done = f.done + (at.item * C::SLICES + at.slice) * at.tiles + tile;
    const int turn = flash_turn<C>(f.shape, at, tile);
    if (tile < at.first || turn == 0) return;
    while (ptx_read_flag(done) < turn) continue;
}

/* ---- dq ---- */

/* Where ds of a tile is kept. */
template <class C> __device__ __forceinline__ int flash_scores(int tile)
{
    return C::SCORES + (flash_lags<C>(FLASH_CAPABILITY) ? tile % 2 * C::SCORES_SIZE : 0);
}

/* dq of one tile: ds times all keys of the block, added to what other blocks have found. */
template <class C>
__device__ __forceinline__ void flash_add_dq(const FlashBackward &f, const FlashBackwardPlace &at,
                                             const typename C::Element *memory, int tile)
{
    using Share = typename C::Share;
    const int warp = (int)threadIdx.x / 32, job = at.item * C::SLICES + at.slice;
    const int down = warp % C::DOWN * C::QueryWarp::ROWS, across = warp / C::DOWN * C::QUERY_COLS;
    const int turn = flash_turn<C>(f.shape, at, tile), column = at.slice * C::SLICE + across;
    const bool last = flash_is_last<C>(f.shape, at, tile);
    float dq[Share::HELD][Share::COLS] = {};
    C::QueryWarp::template multiply_tn<C::KEYS, C::QUERY_COLS, C::SCORE_STRIDE, C::STRIDE>(
        dq, memory + flash_scores<C>(tile) + down, memory + column);
    float *sum = f.dq_sum + ((int64_t)job * at.tiles + tile) * (C::QUERIES * C::SLICE) +
                 (int)threadIdx.x * 4;
#pragma unroll
    for (int i = 0; i < Share::HELD; i++) {
#pragma unroll
        for (int j = 0; j < Share::COLS; j += 4, sum += 4 * C::THREADS) {
            float4 x = {dq[i][j], dq[i][j + 1], dq[i][j + 2], dq[i][j + 3]};
            if (!last && turn > 0) {
                ptx_add4(sum, x);
            } else if (!last) {
                *reinterpret_cast<float4 *>(sum) = x;
            } else if (turn > 0) {
                const float4 before = __ldcg(reinterpret_cast<const float4 *>(sum));
                dq[i][j] += before.x;
                dq[i][j + 1] += before.y;
                dq[i][j + 2] += before.z;
                dq[i][j + 3] += before.w;
            }
        }
    }
    if (!last) return;
    flash_store<Share, typename C::Element>(f.dq, f.shape, flash_query_head(f.shape, at.item),
                                            tile * C::QUERIES + down, column, dq, f.shape.scale);
}

/* dq of a tile whose ds the warps have just written. */
template <class C>
__device__ __forceinline__ void flash_dq_in_turn(const FlashBackward &f,
                                                 const FlashBackwardPlace &at,
                                                 const typename C::Element *memory, int tile)
{
    if (threadIdx.x == 0) {
        if (!flash_longest_first<C>(f.shape)) flash_pass_on<C>(f, at, tile - 1);
        flash_await_turn<C>(f, at, tile);
    }
    __syncthreads();
    flash_add_dq<C>(f, at, memory, tile);
}
