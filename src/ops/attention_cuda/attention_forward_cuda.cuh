/* The forward kernel. A block of queries stays; tiles of keys and values pass by, from the first to the
 * last that the block may see. Each warp has rows of its own and keeps, for each, the largest score so
 * far, the sum of exp(score - largest) and the weighted sum of values; when a larger score comes, both
 * sums shrink. All exponentials are powers of two: exp(scale s) = 2^(s scale log2 e). */
#pragma once

#include "ops/attention_cuda/attention_tile_cuda.cuh"

/* Sizes of the forward kernel. Heads up to WIDTH; one block makes SLICE columns of the result, so that
 * its registers hold them (scores are computed again for every slice). */
template <class Warp_, int WIDTH_, int SLICE_, int WARPS_, int KEYS_, int STAGES_, int BLOCKS_>
struct FlashForwardTiles {
    using Warp = Warp_;
    using Element = typename Warp::Element;
    using Scores = typename Warp::template Scores<KEYS_>;
    using Values = typename Warp::template Values<SLICE_>;
    static constexpr bool general = false;
    enum {
        WIDTH = WIDTH_,
        SLICE = SLICE_,
        SLICES = WIDTH / SLICE,
        WARPS = WARPS_,
        THREADS = 32 * WARPS,
        QUERIES = WARPS * Warp::ROWS,
        KEYS = KEYS_,
        STAGES = STAGES_,
        BLOCKS = BLOCKS_, /* on an SM at once */
        STRIDE = flash_stride<Element, WIDTH>,
        VALUE_STRIDE = flash_stride<Element, SLICE>,
        STASH_STRIDE = KEYS + Warp::score_gap,
        /* ---- shared memory, in elements ---- */
        Q = 0,
        STAGE = QUERIES * STRIDE,
        STAGE_SIZE = KEYS * (STRIDE + VALUE_STRIDE),
        STASH = STAGE + STAGES * STAGE_SIZE,
        STASH_SIZE = Warp::stashes ? QUERIES * STASH_STRIDE : 0,
        BYTES = (STASH + STASH_SIZE) * (int)sizeof(Element)
    };
};

/* Which part of which matrix a block works on. */
struct FlashForwardPlace {
    int item, slice, query; /* the first query of the block */
    int first, keys;        /* some query of the block may see keys from `first` to before `keys` */
};

template <class C>
__device__ __forceinline__ FlashForwardPlace flash_forward_place(const FlashShape &s)
{
    const FlashJob job =
        flash_job(s, (int)blockIdx.x, flash_blocks(s.T, C::QUERIES), s.count * C::SLICES);
    FlashForwardPlace at;
    at.item = job.matrix / C::SLICES;
    at.slice = job.matrix % C::SLICES;
    at.query = job.block * C::QUERIES;
    at.first = 0;
    if constexpr (C::general) {
        at.first = max(0, at.query - s.window + 1) / C::KEYS * C::KEYS; /* of a tile */
    }
    at.keys = s.causal ? min(s.T, at.query + C::QUERIES) : s.T;
    return at;
}

template <class C>
__device__ __forceinline__ void flash_load_keys(typename C::Element *stage, const FlashForward &f,
                                                const FlashForwardPlace &at, int key)
{
    const FlashHead head = flash_key_head<C>(f.shape, at.item);
    flash_load<C::KEYS, C::WIDTH, C::THREADS>(stage, f.k, f.shape, head, key, 0);
    flash_load<C::KEYS, C::SLICE, C::THREADS>(stage + C::KEYS * C::STRIDE, f.v, f.shape, head, key,
                                              at.slice * C::SLICE);
}

/* Below all scores but those next to the end of floats, and a number still when it is scaled by up
 * to 2.9. */
constexpr float FLASH_LEAST = -8e37F;

/* What a warp carries from tile to tile. */
template <class C> struct FlashRows {
    float out[C::Values::HELD][C::Values::COLS];
    float most[C::Values::HELD], sum[C::Values::HELD]; /* sum: this lane's part */
};

/* Scores of keys beyond the last, after the query or before its window count for nothing. */
template <class C>
__device__ __forceinline__ void flash_mask(float (&s)[C::Scores::HELD][C::Scores::COLS], int query,
                                           int key, const FlashShape &shape)
{
#pragma unroll
    for (int i = 0; i < C::Scores::HELD; i++) {
        const int last = shape.causal ? min(query + C::Scores::row(i), shape.T - 1) : shape.T - 1;
        const int first = C::general ? query + C::Scores::row(i) - shape.window + 1 : 0;
#pragma unroll
        for (int j = 0; j < C::Scores::COLS; j++) {
            if (key + C::Scores::column(j) > last) s[i][j] = -INFINITY;
            if (C::general && key + C::Scores::column(j) < first) s[i][j] = -INFINITY;
        }
    }
}

template <class Warp> __device__ __forceinline__ float flash_row_max(float x)
{
#pragma unroll
    for (int i = 1; i < Warp::ROW_LANES; i *= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, i));
    return x;
}

template <class Warp> __device__ __forceinline__ float flash_row_sum(float x)
{
#pragma unroll
    for (int i = 1; i < Warp::ROW_LANES; i *= 2) x += __shfl_xor_sync(0xffffffffU, x, i);
    return x;
}

/* Scores become weights, and what the rows carry is put in proportion to them. The largest score is
 * a number from the start, so that one of -infinity (masked, or a score beyond all floats) has the
 * weight 0 and no difference is infinity less infinity. */
template <class C>
__device__ __forceinline__ void flash_weigh(float (&s)[C::Scores::HELD][C::Scores::COLS],
                                            FlashRows<C> &rows, float scale)
{
#pragma unroll
    for (int i = 0; i < C::Scores::HELD; i++) {
        float most = s[i][0];
#pragma unroll
        for (int j = 1; j < C::Scores::COLS; j++) most = fmaxf(most, s[i][j]);
        most = fmaxf(rows.most[i], flash_row_max<typename C::Warp>(most));
        const float shrink = quick_exp2((rows.most[i] - most) * scale), shift = most * scale;
        rows.most[i] = most;
        float sum = 0;
#pragma unroll
        for (int j = 0; j < C::Scores::COLS; j++) {
            s[i][j] = quick_exp2(fmaf(s[i][j], scale, -shift));
            sum += s[i][j];
        }
        rows.sum[i] = fmaf(rows.sum[i], shrink, sum);
#pragma unroll
        for (int j = 0; j < C::Values::COLS; j++) rows.out[i][j] *= shrink;
    }
}

/* Whether a tile of keys lies before the windows of a warp's queries, and whether some of it does.
 * Queries beyond the last may see no key at all; they are not stored. */
template <class C>
__device__ __forceinline__ bool flash_is_before(const FlashShape &s, int query, int key)
{
    return C::general && key + C::KEYS + s.window <= query + 1;
}

template <class C>
__device__ __forceinline__ bool flash_begins_before(const FlashShape &s, int query, int key)
{
    return C::general && key + s.window < query + C::Warp::ROWS;
}

/* One tile of keys and values for the rows of this warp, the first of which is `query`. */
template <class C>
__device__ __forceinline__ void
flash_forward_step(FlashRows<C> &rows, const FlashShape &shape, const typename C::Element *q,
                   const typename C::Element *stage, typename C::Element *stash, int query, int key)
{
    using Warp = typename C::Warp;
    if (shape.causal && key > query + Warp::ROWS - 1) return; /* all of it after these queries */
    if (flash_is_before<C>(shape, query, key)) return;
    float s[C::Scores::HELD][C::Scores::COLS] = {};
    Warp::template multiply_nt<C::WIDTH, C::KEYS, C::STRIDE, C::STRIDE>(s, q, stage);
    if (key + C::KEYS > shape.T || (shape.causal && key + C::KEYS - 1 > query) ||
        flash_begins_before<C>(shape, query, key)) {
        flash_mask<C>(s, query, key, shape);
    }
    flash_weigh<C>(s, rows, shape.scale * FLASH_LOG2_E);
    if constexpr (Warp::stashes) {
        __syncwarp();
        Warp::template store_scores<C::KEYS, C::STASH_STRIDE>(stash, s);
        __syncwarp();
    }
    Warp::template multiply_nn<C::KEYS, C::SLICE, C::VALUE_STRIDE>(rows.out, s, stash,
                                                                   stage + C::KEYS * C::STRIDE);
}

template <class C>
__device__ __forceinline__ void flash_forward_end(FlashRows<C> &rows, const FlashForward &f,
                                                  const FlashForwardPlace &at, int query)
{
    const FlashShape &s = f.shape;
    const int left = s.T - query;
#pragma unroll
    for (int i = 0; i < C::Values::HELD; i++) {
        const int row = C::Values::row(i);
        const float sum = flash_row_sum<typename C::Warp>(rows.sum[i]);
        if (at.slice == 0 && C::Scores::column(0) == 0 && row < left) {
            f.lse[(int64_t)at.item * s.T + query + row] = rows.most[i] * s.scale + logf(sum);
        }
#pragma unroll
        for (int j = 0; j < C::Values::COLS; j++) rows.out[i][j] /= sum;
    }
    flash_store<typename C::Values, typename C::Element>(
        f.out, s, flash_query_head(s, at.item), query, at.slice * C::SLICE, rows.out, 1.0F);
}

template <class C>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS) flash_forward_kernel(const FlashForward f)
{
    using E = typename C::Element;
    extern __shared__ __align__(16) unsigned char shared[];
    E *memory = reinterpret_cast<E *>(shared), *stages = memory + C::STAGE;
    const FlashForwardPlace at = flash_forward_place<C>(f.shape);
    const int first = (int)threadIdx.x / 32 * C::Warp::ROWS; /* of this warp's rows */
    flash_load<C::QUERIES, C::WIDTH, C::THREADS>(memory, f.q, f.shape,
                                                 flash_query_head(f.shape, at.item), at.query, 0);
    if (C::STAGES > 1) flash_load_keys<C>(stages, f, at, at.first);
    FlashRows<C> rows = {};
#pragma unroll
    for (int i = 0; i < C::Values::HELD; i++) rows.most[i] = FLASH_LEAST;
    for (int key = at.first, stage = 0; key < at.keys; key += C::KEYS) {
        if (C::STAGES == 1) {
            __syncthreads(); /* the tile before is no longer read */
            flash_load_keys<C>(stages, f, at, key);
        }
        ptx_await_copies();
        __syncthreads();
        const E *tile = stages + stage * C::STAGE_SIZE;
        if (C::STAGES > 1) {
            stage ^= 1;
            if (key + C::KEYS < at.keys) {
                flash_load_keys<C>(stages + stage * C::STAGE_SIZE, f, at, key + C::KEYS);
            }
        }
        flash_forward_step<C>(rows, f.shape, memory + first * C::STRIDE, tile,
                              memory + C::STASH + first * C::STASH_STRIDE, at.query + first, key);
    }
    flash_forward_end<C>(rows, f, at, at.query + first);
}
