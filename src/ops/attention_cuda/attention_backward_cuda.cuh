/* The backward kernel. A block of keys and values stays; tiles of queries and of dout pass by. Scores are
 * computed transposed, keys down and queries across: then each warp has keys of its own, the weights of its
 * keys are at once the left operand of dv = p^T dout and dk = ds^T q, and both sums stay in registers.
 * Only ds goes through shared memory, since dq sums over all keys of the block (attention_dq_cuda.cuh).
 *
 * Where shared memory holds ds twice, dq of a tile is made beside the scores of the next one (it lags):
 * one barrier a tile instead of two, and warps that wait for exponentials leave the tensor cores to it. */
#pragma once

#include "ops/attention_cuda/attention_dq_cuda.cuh"
#include "ops/cuda/block_reduce_cuda.cuh"

/* ---- loading ---- */
template <class C>
__device__ __forceinline__ void flash_load_queries(typename C::Element *stage,
                                                   const FlashBackward &f,
                                                   const FlashBackwardPlace &at, int tile)
{
    const int query = tile * C::QUERIES;
    const int64_t row = (int64_t)at.item * f.shape.T + query;
    const FlashHead head = flash_query_head(f.shape, at.item);
    flash_load<C::QUERIES, C::WIDTH, C::THREADS>(stage, f.q, f.shape, head, query, 0);
    flash_load<C::QUERIES, C::WIDTH, C::THREADS>(stage + C::DOUT, f.dout, f.shape, head, query, 0);
    flash_load_floats<C::QUERIES, C::THREADS>(reinterpret_cast<float *>(stage + C::LSE),
                                              f.lse + row, f.shape.T - query);
    flash_load_floats<C::QUERIES, C::THREADS>(reinterpret_cast<float *>(stage + C::DELTA),
                                              f.delta + row, f.shape.T - query);
}

template <class C>
__device__ __forceinline__ void
flash_load_block(typename C::Element *memory, const FlashBackward &f, const FlashBackwardPlace &at)
{
    const FlashHead head = flash_key_head<C>(f.shape, at.item);
    flash_load<C::KEYS, C::WIDTH, C::THREADS>(memory, f.k, f.shape, head, at.key, 0);
    flash_load<C::KEYS, C::WIDTH, C::THREADS>(memory + C::V, f.v, f.shape, head, at.key, 0);
}

/* ---- one tile ---- */

/* p = exp(scale s - lse), 0 where the key comes after the query, before its window, or is none. */
template <class C>
__device__ __forceinline__ void flash_weights(float (&s)[C::Scores::HELD][C::Scores::COLS],
                                              const float *lse, const FlashShape &shape, int key,
                                              int query)
{
    const float scale = shape.scale * FLASH_LOG2_E;
    const bool edge = key + C::Warp::ROWS > shape.T ||
                      (shape.causal && key + C::Warp::ROWS - 1 > query) ||
                      (C::general && query + C::QUERIES > key + shape.window);
#pragma unroll
    for (int j = 0; j < C::Scores::COLS; j++) {
        const int column = C::Scores::column(j);
        const float shift = lse[column] * FLASH_LOG2_E;
#pragma unroll
        for (int i = 0; i < C::Scores::HELD; i++) {
            s[i][j] = quick_exp2(fmaf(s[i][j], scale, -shift));
        }
        if (!edge) continue;
#pragma unroll
        for (int i = 0; i < C::Scores::HELD; i++) {
            const int row = key + C::Scores::row(i);
            if (row >= shape.T || (shape.causal && row > query + column)) s[i][j] = 0;
            if (C::general && row + shape.window <= query + column) s[i][j] = 0;
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
    Warp::template multiply_nt<C::WIDTH, C::QUERIES, C::STRIDE, C::STRIDE>(p, k, stage);
    flash_weights<C>(p, reinterpret_cast<const float *>(stage + C::LSE), shape, key, query);
    if constexpr (Warp::stashes) {
        Warp::template store_scores<C::QUERIES, C::SCORE_STRIDE>(scores, p);
        __syncwarp();
    }
    Warp::template multiply_nn<C::QUERIES, C::SLICE, C::STRIDE>(g.dv, p, scores,
                                                                dout + slice * C::SLICE);
    Warp::template multiply_nt<C::WIDTH, C::QUERIES, C::STRIDE, C::STRIDE>(dp, v, dout);
    flash_score_grads<C>(dp, p, reinterpret_cast<const float *>(stage + C::DELTA));
    __syncwarp();
    Warp::template store_scores<C::QUERIES, C::SCORE_STRIDE>(scores, dp);
    __syncwarp();
    Warp::template multiply_nn<C::QUERIES, C::SLICE, C::STRIDE>(g.dk, dp, scores,
                                                                stage + slice * C::SLICE);
}

/* What a thread holds of dk or dv, to the sum of its group's heads, or the sum to what it holds. */
template <int THREADS, int HELD, int COLS>
__device__ __forceinline__ void flash_add_share(float (&x)[HELD][COLS], float *sum, bool begins,
                                                bool ends)
{
    static_assert(HELD * COLS % 4 == 0, "four at a time");
#pragma unroll
    for (int n = 0; n < HELD * COLS; n += 4, sum += 4 * THREADS) {
        float &a = x[n / COLS][n % COLS], &b = x[(n + 1) / COLS][(n + 1) % COLS];
        float &c = x[(n + 2) / COLS][(n + 2) % COLS], &d = x[(n + 3) / COLS][(n + 3) % COLS];
        if (ends) {
            const float4 before = __ldcg(reinterpret_cast<const float4 *>(sum));
            a = before.x + a;
            b = before.y + b;
            c = before.z + c;
            d = before.w + d;
        } else if (begins) {
            *reinterpret_cast<float4 *>(sum) = float4{a, b, c, d};
        } else {
            ptx_add4(sum, float4{a, b, c, d});
        }
    }
}

/* dk and dv sum over the heads of a group, each of which has a block for these keys. They add in the
 * order of the heads, which is the order in which they are taken up. True for the last one, which
 * then holds the sums. */
template <class C>
__device__ __forceinline__ bool flash_sum_group(FlashGrads<C> &g, const FlashBackward &f,
                                                const FlashBackwardPlace &at)
{
    const int group = f.shape.group, turn = at.item % group;
    const int job = (at.item / group * C::SLICES + at.slice) * flash_blocks(f.shape.T, C::KEYS);
    float *sum =
        f.group_sum + (int64_t)(job + at.block) * (2 * C::KEYS * C::SLICE) + (int)threadIdx.x * 4;
    int *done = f.group_done + job + at.block;
    if (group == 1) return true;
    if (turn > 0) {
        while (threadIdx.x == 0 && ptx_read_flag(done) < turn) continue;
        __syncthreads();
    }
    const bool ends = turn == group - 1;
    flash_add_share<C::THREADS>(g.dk, sum, turn == 0, ends);
    flash_add_share<C::THREADS>(g.dv, sum + C::KEYS * C::SLICE, turn == 0, ends);
    if (ends) return true;
    __syncthreads();
    if (threadIdx.x == 0) ptx_write_flag(done, turn + 1);
    return false;
}

template <class C>
__device__ __forceinline__ void flash_backward_end(FlashGrads<C> &g, const FlashBackward &f,
                                                   const FlashBackwardPlace &at)
{
    using E = typename C::Element;
    using Values = typename C::Values;
    const int key = at.key + (int)threadIdx.x / 32 * C::Warp::ROWS, column = at.slice * C::SLICE;
    const FlashHead head = flash_key_head<C>(f.shape, at.item);
    if constexpr (C::general) {
        if (!flash_sum_group<C>(g, f, at)) return;
    }
    flash_store<Values, E>(f.dk, f.shape, head, key, column, g.dk, f.shape.scale);
    flash_store<Values, E>(f.dv, f.shape, head, key, column, g.dv, 1.0F);
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
        const E *a = flash_start<const E>(f.dout, flash_query_head(s, item), row, 0);
        const E *b = flash_start<const E>(f.out, flash_query_head(s, item), row, 0);
        float sum = 0;
        for (int d = lane; d < s.D; d += 32) sum = fmaf(to_float(a[d]), to_float(b[d]), sum);
        sum = warp_sum(sum);
        if (lane == 0) f.delta[i] = sum;
    }
}
