/* The backward kernel. A block of keys and values stays; tiles of queries and of dout pass by. Scores are
 * computed turned, keys down and queries across: then each warp has keys of its own, the weights of its
 * keys are at once the left operand of dv = p^T dout and dk = ds^T q, and both sums stay in registers.
 * Only ds goes through shared memory, since dq sums over all keys of the block.
 *
 * dq sums over blocks as well. Five products need it in memory while the kernel runs; computing dq in a
 * pass of its own would need seven. So that results do not depend on who comes first, blocks add to a
 * tile of dq in turn, the block on the diagonal first, each when the one before it is done: a block
 * starts KEYS queries before it meets tiles of the block before it, so it seldom waits. Blocks number
 * themselves as they start, hence wait only for blocks that run already. The sum is fp32 and laid out as
 * the threads hold it; the first block writes, the last one hands the finished dq out.
 *
 * Where shared memory holds ds twice, dq of a tile is made beside the scores of the next one (it lags):
 * one barrier a tile instead of two, and warps that wait for exponentials leave the tensor cores to it. */
#ifndef OPS_ATTENTION_CUDA_ATTENTION_BACKWARD_CUDA_CUH
#define OPS_ATTENTION_CUDA_ATTENTION_BACKWARD_CUDA_CUH

#include "ops/attention_cuda/attention_flash_cuda.cuh"
#include "ops/attention_cuda/attention_tile_cuda.cuh"

/* Sizes of the backward kernel. Heads up to WIDTH; one block makes SLICE columns of dq, dk and dv. */
template <class Warp_, class QueryWarp_, int WIDTH_, int SLICE_, int WARPS_, int QUERIES_,
          int STAGES_, int BLOCKS_>
struct FlashBackwardTiles {
    using Warp = Warp_;
    using QueryWarp = QueryWarp_; /* of the product that makes dq */
    using Element = typename Warp::Element;
    using Scores = typename Warp::template Scores<QUERIES_>;
    using Values = typename Warp::template Values<SLICE_>;
    enum {
        WIDTH = WIDTH_,
        SLICE = SLICE_,
        SLICES = WIDTH / SLICE,
        WARPS = WARPS_,
        THREADS = 32 * WARPS,
        KEYS = WARPS * Warp::ROWS,
        QUERIES = QUERIES_,
        STAGES = STAGES_,
        BLOCKS = BLOCKS_, /* on a processor at once */
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
    using Share = typename QueryWarp::template Turned<QUERY_COLS>;
    static_assert(KEYS % QUERIES == 0, "a block's first tile of queries begins at its first key");
    static_assert(DOWN * QueryWarp::ROWS == QUERIES && ACROSS * DOWN == WARPS,
                  "a whole tile of dq");
    static_assert(Share::COLS % 4 == 0, "dq is added four at a time");
};

/* Whether code for this compute capability keeps ds twice: where a processor has 228 KiB of shared memory
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

/* Whether blocks are taken up, and add to dq, from the first one on: in a causal matrix that is the longest, and where
 * there are few of them none must begin when others end (4 x 16 heads of 512 tokens in fp32, 0.216 instead of 0.268 ms on an H200). They
 * then meet at the same tile, the last one first, and wait for each other unless a turn is passed on at once, for which
 * a single stage has a barrier. */
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
    return at;
}

/* ---- loading ---- */
template <class C>
__device__ __forceinline__ void flash_load_rows(typename C::Element *tile, const FlashMatrix &m,
                                                const FlashShape &s, int item, int row)
{
    using E = typename C::Element;
    flash_load<C::QUERIES, C::WIDTH, C::THREADS>(tile, flash_head<const E>(m, s, item, row, 0),
                                                 m.ld, s.T - row, s.D, s.packs);
}

template <class C>
__device__ __forceinline__ void flash_load_queries(typename C::Element *stage,
                                                   const FlashBackward &f,
                                                   const FlashBackwardPlace &at, int tile)
{
    const int query = tile * C::QUERIES;
    const int64_t row = (int64_t)at.item * f.shape.T + query;
    flash_load_rows<C>(stage, f.q, f.shape, at.item, query);
    flash_load_rows<C>(stage + C::DOUT, f.dout, f.shape, at.item, query);
    flash_load_floats<C::QUERIES, C::THREADS>(reinterpret_cast<float *>(stage + C::LSE),
                                              f.lse + row, f.shape.T - query);
    flash_load_floats<C::QUERIES, C::THREADS>(reinterpret_cast<float *>(stage + C::DELTA),
                                              f.delta + row, f.shape.T - query);
}

template <class C>
__device__ __forceinline__ void
flash_load_block(typename C::Element *memory, const FlashBackward &f, const FlashBackwardPlace &at)
{
    using E = typename C::Element;
    const FlashShape &s = f.shape;
    flash_load<C::KEYS, C::WIDTH, C::THREADS>(memory,
                                              flash_head<const E>(f.k, s, at.item, at.key, 0),
                                              f.k.ld, s.T - at.key, s.D, s.packs);
    flash_load<C::KEYS, C::WIDTH, C::THREADS>(memory + C::V,
                                              flash_head<const E>(f.v, s, at.item, at.key, 0),
                                              f.v.ld, s.T - at.key, s.D, s.packs);
}

/* ---- turns ---- */

/* The last block that adds to a tile: in a causal matrix the one on the diagonal. */
template <class C> __device__ __forceinline__ int flash_last_block(const FlashShape &s, int tile)
{
    return s.causal ? tile * C::QUERIES / C::KEYS : flash_blocks(s.T, C::KEYS) - 1;
}

/* The block's place in the order of those that add to a tile. */
template <class C>
__device__ __forceinline__ int flash_turn(const FlashShape &s, const FlashBackwardPlace &at,
                                          int tile)
{
    return flash_longest_first<C>(s) ? at.block : flash_last_block<C>(s, tile) - at.block;
}

template <class C>
__device__ __forceinline__ bool flash_is_last(const FlashShape &s, const FlashBackwardPlace &at,
                                              int tile)
{
    return at.block == (flash_longest_first<C>(s) ? flash_last_block<C>(s, tile) : 0);
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

/* ---- one tile ---- */

/* p = exp(scale s - lse), 0 where the key comes after the query or is none. */
template <class C>
__device__ __forceinline__ void flash_weights(float (&s)[C::Scores::HELD][C::Scores::COLS],
                                              const float *lse, const FlashShape &shape, int key,
                                              int query)
{
    const float scale = shape.scale * FLASH_LOG2_E;
    const bool edge =
        key + C::Warp::ROWS > shape.T || (shape.causal && key + C::Warp::ROWS - 1 > query);
#pragma unroll
    for (int j = 0; j < C::Scores::COLS; j++) {
        const int column = C::Scores::column(j);
        const float shift = lse[column] * FLASH_LOG2_E;
#pragma unroll
        for (int i = 0; i < C::Scores::HELD; i++) {
            s[i][j] = ptx_exp2(fmaf(s[i][j], scale, -shift));
        }
        if (!edge) continue;
#pragma unroll
        for (int i = 0; i < C::Scores::HELD; i++) {
            const int row = key + C::Scores::row(i);
            if (row >= shape.T || (shape.causal && row > query + column)) s[i][j] = 0;
        }
    }
}

/* ds / scale = p (dp - delta), left in dp. */
template <class C>
__device__ __forceinline__ void
flash_score_grads(float (&dp)[C::Scores::HELD][C::Scores::COLS],
                  const float (&p)[C::Scores::HELD][C::Scores::COLS], const float *delta)
{
#pragma unroll
    for (int j = 0; j < C::Scores::COLS; j++) {
        const float d = delta[C::Scores::column(j)];
#pragma unroll
        for (int i = 0; i < C::Scores::HELD; i++) dp[i][j] = p[i][j] * (dp[i][j] - d);
    }
}

/* A warp's share of dk and dv, both without their factor. */
template <class C> struct FlashGrads {
    float dk[C::Values::HELD][C::Values::COLS], dv[C::Values::HELD][C::Values::COLS];
};

/* Where ds of a tile is kept. */
template <class C> __device__ __forceinline__ int flash_scores(int tile)
{
    return C::SCORES + (flash_lags<C>(FLASH_CAPABILITY) ? tile % 2 * C::SCORES_SIZE : 0);
}

/* All but dq: this warp's keys, the first of which is `key`. Leaves ds in shared memory. */
template <class C>
__device__ __forceinline__ void
flash_backward_step(FlashGrads<C> &g, const FlashShape &shape, typename C::Element *memory,
                    const typename C::Element *stage, int slice, int key, int tile)
{
    using Warp = typename C::Warp;
    using E = typename C::Element;
    const int first = (int)threadIdx.x / 32 * Warp::ROWS, query = tile * C::QUERIES;
    const E *k = memory + first * C::STRIDE, *v = k + C::V, *dout = stage + C::DOUT;
    E *scores = memory + flash_scores<C>(tile) + first * C::SCORE_STRIDE;
    float p[C::Scores::HELD][C::Scores::COLS] = {}, dp[C::Scores::HELD][C::Scores::COLS] = {};
    Warp::template times_rows<C::WIDTH, C::QUERIES, C::STRIDE, C::STRIDE>(p, k, stage);
    flash_weights<C>(p, reinterpret_cast<const float *>(stage + C::LSE), shape, key, query);
    if constexpr (Warp::stashes) {
        Warp::template store_scores<C::QUERIES, C::SCORE_STRIDE>(scores, p);
        __syncwarp();
    }
    Warp::template times_columns<C::QUERIES, C::SLICE, C::STRIDE>(g.dv, p, scores,
                                                                  dout + slice * C::SLICE);
    Warp::template times_rows<C::WIDTH, C::QUERIES, C::STRIDE, C::STRIDE>(dp, v, dout);
    flash_score_grads<C>(dp, p, reinterpret_cast<const float *>(stage + C::DELTA));
    __syncwarp();
    Warp::template store_scores<C::QUERIES, C::SCORE_STRIDE>(scores, dp);
    __syncwarp();
    Warp::template times_columns<C::QUERIES, C::SLICE, C::STRIDE>(g.dk, dp, scores,
                                                                  stage + slice * C::SLICE);
}

/* dq of one tile: ds times all keys of the block, added to what other blocks have found. */
template <class C>
__device__ __forceinline__ void flash_add_dq(const FlashBackward &f, const FlashBackwardPlace &at,
                                             const typename C::Element *memory, int tile)
{
    using E = typename C::Element;
    using Share = typename C::Share;
    const int warp = (int)threadIdx.x / 32, job = at.item * C::SLICES + at.slice;
    const int down = warp % C::DOWN * C::QueryWarp::ROWS, across = warp / C::DOWN * C::QUERY_COLS;
    const int turn = flash_turn<C>(f.shape, at, tile), column = at.slice * C::SLICE + across;
    const bool last = flash_is_last<C>(f.shape, at, tile);
    float dq[Share::HELD][Share::COLS] = {};
    C::QueryWarp::template times_turned<C::KEYS, C::QUERY_COLS, C::SCORE_STRIDE, C::STRIDE>(
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
    const int query = tile * C::QUERIES + down;
    flash_store<Share>(flash_head<E>(f.dq, f.shape, at.item, query, column), f.dq.ld, dq,
                       f.shape.scale, f.shape.T - query, f.shape.D - column, f.shape.packs);
}

template <class C>
__device__ __forceinline__ void flash_backward_end(const FlashGrads<C> &g, const FlashBackward &f,
                                                   const FlashBackwardPlace &at)
{
    using E = typename C::Element;
    const FlashShape &s = f.shape;
    const int key = at.key + (int)threadIdx.x / 32 * C::Warp::ROWS, column = at.slice * C::SLICE;
    flash_store<typename C::Values>(flash_head<E>(f.dk, s, at.item, key, column), f.dk.ld, g.dk,
                                    s.scale, s.T - key, s.D - column, s.packs);
    flash_store<typename C::Values>(flash_head<E>(f.dv, s, at.item, key, column), f.dv.ld, g.dv,
                                    1.0F, s.T - key, s.D - column, s.packs);
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

template <class C>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS)
    flash_backward_kernel(const FlashBackward f)
{
    using E = typename C::Element;
    extern __shared__ __align__(16) unsigned char shared[];
    E *memory = reinterpret_cast<E *>(shared), *stages = memory + C::STAGE;
    const FlashBackwardPlace at = flash_backward_place<C>(f);
    const int first = (int)threadIdx.x / 32 * C::Warp::ROWS; /* of this warp's keys */
    constexpr bool lags = flash_lags<C>(FLASH_CAPABILITY);
    FlashGrads<C> g = {};
    flash_load_block<C>(memory, f, at);
    if (C::STAGES > 1) flash_load_queries<C>(stages, f, at, at.first);
    const bool down = flash_longest_first<C>(f.shape); /* from the last tile to the first */
    for (int n = at.first, stage = 0; n < at.end; n++) {
        const int tile = down ? at.first + at.end - 1 - n : n;
        if (C::STAGES == 1) {
            __syncthreads(); /* the tile before is no longer read */
            if (down && n > at.first && threadIdx.x == 0) flash_pass_on<C>(f, at, tile + 1);
            flash_load_queries<C>(stages, f, at, tile);
        }
        ptx_await_copies();
        if (lags && threadIdx.x == 0) flash_await_turn<C>(f, at, tile - 1);
        __syncthreads();
        if (lags && threadIdx.x == 0) flash_pass_on<C>(f, at, tile - 2);
        const E *now = stages + stage * C::STAGE_SIZE;
        if (C::STAGES > 1) {
            stage ^= 1;
            if (tile + 1 < at.end) {
                flash_load_queries<C>(stages + stage * C::STAGE_SIZE, f, at, tile + 1);
            }
        }
        if (lags && tile > at.first) flash_add_dq<C>(f, at, memory, tile - 1);
        flash_backward_step<C>(g, f.shape, memory, now, at.slice, at.key + first, tile);
        if (!lags) flash_dq_in_turn<C>(f, at, memory, tile);
    }
    __syncthreads();
    if (lags) {
        flash_dq_in_turn<C>(f, at, memory, at.end - 1);
        __syncthreads();
    }
    if (threadIdx.x == 0) flash_pass_on<C>(f, at, down ? at.first : at.end - 1);
    flash_backward_end<C>(g, f, at);
}

/* delta = rowsum(dout out), a warp for each row; and nobody has begun. */
template <typename E, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    flash_delta_kernel(const FlashBackward f, int64_t flags)
{
    const FlashShape &s = f.shape;
    const int lane = (int)threadIdx.x % 32;
    const int64_t warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < flags;
         i += (int64_t)gridDim.x * blockDim.x) {
        f.done[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *f.ticket = 0;
    for (int64_t i = warp; i < (int64_t)s.count * s.T; i += (int64_t)gridDim.x * WARPS) {
        const int item = (int)(i / s.T), row = (int)(i % s.T);
        const E *a = flash_head<const E>(f.dout, s, item, row, 0);
        const E *b = flash_head<const E>(f.out, s, item, row, 0);
        float sum = 0;
        for (int d = lane; d < s.D; d += 32) sum = fmaf(to_float(a[d]), to_float(b[d]), sum);
        sum = warp_sum(sum);
        if (lane == 0) f.delta[i] = sum;
    }
}

#endif
