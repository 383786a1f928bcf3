/* Numbers as 8-bit floats with scales (ops/fp8/quantize.c), to the reference's bits.
 *
 * A tile is read once, and written as it lies and transposed. What shares a scale within a tile finds it
 * there. One scale for all, or one a row, needs a pass before, which reads the numbers and leaves their
 * largest sizes in the workspace; sizes of earlier steps (`recent`) need none. */
#include "ops/fp8/quantize.h"
#include "ops/fp8_cuda/quantize_sizes_cuda.cuh"
#include "ops/fp8_cuda/quantize_words_cuda.cuh"

/* The numbers or the transposed ones. */
struct Pair {
    uint8_t *q; /* NULL: absent */
    float *scale;
    GpuSupportScales scales;
    int64_t blocks; /* scales of a row, of blocks and squares */
};

struct QuantizeArgs {
    TileMatrix x;
    unsigned tiles_wide;
    Pair stored, transposed;
    bool whole_columns; /* the transposed rows take 16 bytes at a time */
    const float *recent;
    SizesFound found;
    float *amax; /* NULL: the pass before has seen to it */
    bool note_rows, note_cols, note_all;
};

struct Tile {
    TileSizes sizes;
    unsigned largest; /* of the whole matrix */
    float row_factor[TILE], col_factor[TILE];
    unsigned word[TILE]
                 [TILE / 4 + 1]; /* transposed, 4 rows a word; one more, for the banks' sake */
};

/* ---- scales ---- */

/* Of row `t` of the tile, as the pair's matrix lies, of which there are as many as `limit`: the largest
 * size among the numbers that share its scale. */
__device__ __forceinline__ float amax_for(const QuantizeArgs &f, const Tile &s, const Pair &pair,
                                          const unsigned *in_tile, const unsigned *of_rows,
                                          int64_t index, int64_t limit, int t)
{
    if (f.recent) return *f.recent;
    switch (pair.scales) {
    case GPU_SUPPORT_SCALES_TENSOR:
        return __uint_as_float(s.largest);
    case GPU_SUPPORT_SCALES_ROWS:
        return index < limit ? __uint_as_float(of_rows[index]) : 0;
    case GPU_SUPPORT_SCALES_BLOCKS:
        return __uint_as_float(in_tile[t]);
    default:
        return __uint_as_float(s.sizes.all);
    }
}

/* Each scale is written once. `tile` counts along the pair's rows, `other` along its columns. */
__device__ __forceinline__ void write_scale(const Pair &pair, float scale, int64_t index,
                                            int64_t limit, int64_t tile, int64_t other)
{
    const bool first = index == tile * TILE;
    switch (pair.scales) {
    case GPU_SUPPORT_SCALES_TENSOR:
        if (index == 0 && other == 0) pair.scale[0] = scale;
        break;
    case GPU_SUPPORT_SCALES_ROWS:
        if (index < limit && other == 0) pair.scale[index] = scale;
        break;
    case GPU_SUPPORT_SCALES_BLOCKS:
        if (index < limit) pair.scale[index * pair.blocks + other] = scale;
        break;
    default:
        if (first) pair.scale[tile * pair.blocks + other] = scale;
        break;
    }
}

/* The first 128 threads have the rows of the tile, the next 128 its columns. */
template <bool E5M2>
__device__ __forceinline__ void find_factors(const QuantizeArgs &f, const TilePlace &p, Tile &s)
{
    const int t = threadIdx.x % TILE;
    if (threadIdx.x < TILE && f.stored.q) {
        const int64_t row = p.first_row() + t;
        const float amax = amax_for(f, s, f.stored, s.sizes.row, f.found.rows, row, f.x.rows, t);
        s.row_factor[t] = factor_for<E5M2>(amax);
        write_scale(f.stored, __fdiv_rn(1, s.row_factor[t]), row, f.x.rows, p.tile_row, p.tile_col);
    }
    if (threadIdx.x / TILE == 1 && f.transposed.q) {
        const int64_t col = p.first_col() + t;
        const float amax =
            amax_for(f, s, f.transposed, s.sizes.col, f.found.cols, col, f.x.cols, t);
        s.col_factor[t] = factor_for<E5M2>(amax);
        write_scale(f.transposed, __fdiv_rn(1, s.col_factor[t]), col, f.x.cols, p.tile_col,
                    p.tile_row);
    }
}

/* What the tile's scales come from, and the largest number for later steps. */
__device__ __forceinline__ void note_sizes(const QuantizeArgs &f, const float (&v)[HIGH][WIDE],
                                           const TilePlace &p, Tile &s)
{
    if (f.note_rows) tile_note_rows(s.sizes, v, p);
    if (f.note_cols) tile_note_cols(s.sizes, v, p);
    if (f.found.n_partials > 0) {
        unsigned most = 0;
        for (int i = threadIdx.x; i < f.found.n_partials; i += THREADS)
            most = max(most, f.found.partials[i]);
        most = lanes_most(most, 1, 16);
        if (threadIdx.x % 32 == 0) atomicMax(&s.largest, most);
    }
    __syncthreads();
    if (!f.note_all) return;
    tile_note_all(s.sizes);
    if (threadIdx.x == 0 && f.amax) raise_amax(f.amax, s.sizes.all);
}

/* ---- numbers ---- */

template <bool VECTORS, bool E5M2>
__device__ __forceinline__ void store_rows(const QuantizeArgs &f, const float (&v)[HIGH][WIDE],
                                           const TilePlace &p, const Tile &s)
{
    const int64_t row = p.first_row() + p.row, col = p.first_col() + p.col;
    uint8_t *q = f.stored.q + row * f.x.cols + col;
#pragma unroll
    for (int i = 0; i < HIGH; i++, q += f.x.cols) {
        if (row + i >= f.x.rows) break;
        const float factor = s.row_factor[p.row + i];
        const unsigned word[] = {narrow_by<E5M2>(v[i], factor), narrow_by<E5M2>(v[i] + 4, factor)};
        if (VECTORS) {
            if (col < f.x.cols) *reinterpret_cast<uint2 *>(q) = make_uint2(word[0], word[1]);
        } else {
#pragma unroll
            for (int j = 0; j < WIDE; j++)
                if (col + j < f.x.cols) q[j] = (uint8_t)(word[j / 4] >> j % 4 * 8);
        }
    }
}

template <bool E5M2>
__device__ __forceinline__ void keep_columns(const float (&v)[HIGH][WIDE], const TilePlace &p,
                                             Tile &s)
{
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
        const float column[] = {v[0][j], v[1][j], v[2][j], v[3][j]};
        s.word[p.col + j][p.row / HIGH] = narrow_by<E5M2>(column, s.col_factor[p.col + j]);
    }
}

/* Eight threads write the 128 bytes of a column. */
__device__ __forceinline__ void store_columns(const QuantizeArgs &f, const TilePlace &p,
                                              const Tile &s)
{
    enum { BYTES = 16, PIECES = TILE / BYTES };
    for (int i = threadIdx.x; i < TILE * PIECES; i += THREADS) {
        const int c = i / PIECES, w = i % PIECES * (BYTES / 4);
        const int64_t col = p.first_col() + c, row = p.first_row() + w * 4;
        if (col >= f.x.cols || row >= f.x.rows) continue;
        const unsigned word[] = {s.word[c][w], s.word[c][w + 1], s.word[c][w + 2],
                                 s.word[c][w + 3]};
        uint8_t *q = f.transposed.q + col * f.x.rows + row;
        if (f.whole_columns) {
            *reinterpret_cast<uint4 *>(q) = make_uint4(word[0], word[1], word[2], word[3]);
            continue;
        }
#pragma unroll
        for (int b = 0; b < BYTES; b++)
            if (row + b < f.x.rows) q[b] = (uint8_t)(word[b / 4] >> b % 4 * 8);
    }
}

/* ---- the kernel ---- */

template <typename T, bool VECTORS, bool E5M2>
__global__ void __launch_bounds__(THREADS, 2) quantize_kernel(const QuantizeArgs f)
{
    __shared__ Tile s;
    wait_for_dependency();
    const TilePlace p = tile_place(f.tiles_wide);
    float v[HIGH][WIDE];
    tile_load<T, VECTORS>(v, f.x, p);
    tile_clear(s.sizes);
    if (threadIdx.x == 0) s.largest = 0;
    __syncthreads();
    note_sizes(f, v, p, s);
    find_factors<E5M2>(f, p, s);
    __syncthreads();
    if (f.stored.q) store_rows<VECTORS, E5M2>(f, v, p, s);
    if (!f.transposed.q) return;
    keep_columns<E5M2>(v, p, s);
    __syncthreads();
    store_columns(f, p, s);
}

static Pair pair_of(const OpCall *call, int first)
{
    Pair pair = {};
    pair.q = (uint8_t *)op_out(call, first);
    pair.scale = (float *)op_out(call, first + 1);
    pair.scales = gpu_support_fp8_scales(call->plan, call->node, first);
    pair.blocks = pair.q ? plan_width(op_out_shape(call, first + 1)) : 0;
    return pair;
}

static QuantizeArgs args_of(const OpCall *call, const SizesFound &found)
{
    const Tensor *x = op_in_shape(call, QUANTIZE_IN_X);
    QuantizeArgs f = {};
    f.x = {op_in(call, QUANTIZE_IN_X), plan_rows(x), plan_width(x), x->ld};
    f.tiles_wide = (unsigned)blocks_for(f.x.cols, TILE);
    f.stored = pair_of(call, QUANTIZE_OUT_Q);
    f.transposed = pair_of(call, QUANTIZE_OUT_TRANSPOSED);
    f.whole_columns = f.x.rows % 16 == 0 && (uintptr_t)f.transposed.q % 16 == 0;
    f.recent = (const float *)op_in(call, QUANTIZE_IN_RECENT);
    f.found = found;
    f.amax = found.amax_is_done ? nullptr : (float *)op_out(call, QUANTIZE_OUT_AMAX);
    const bool squares = f.stored.scales == GPU_SUPPORT_SCALES_SQUARES ||
                         f.transposed.scales == GPU_SUPPORT_SCALES_SQUARES;
    f.note_all = f.amax || (squares && !f.recent);
    f.note_rows = f.note_all || (f.stored.scales == GPU_SUPPORT_SCALES_BLOCKS && !f.recent);
    f.note_cols = f.transposed.scales == GPU_SUPPORT_SCALES_BLOCKS && !f.recent;
    return f;
}

template <typename T, bool VECTORS>
static Status launch(const OpCall *call, const QuantizeArgs &f, DType dtype)
{
    const auto kernel =
        dtype == DT_E5M2 ? quantize_kernel<T, VECTORS, true> : quantize_kernel<T, VECTORS, false>;
    const int64_t tiles = blocks_for(f.x.rows, TILE) * f.tiles_wide;
    return launch_dependent(call->backend, kernel, dim3(grid_blocks(tiles)), dim3(THREADS), f);
}

template <typename T, bool VECTORS> static Status quantize(const OpCall *call)
{
    SizesFound found = {};
    TRY((sizes_find<T, VECTORS>(call, &found)));
    const Tensor *q = op_out_shape(call, QUANTIZE_OUT_Q);
    const Tensor *shape = q ? q : op_out_shape(call, QUANTIZE_OUT_TRANSPOSED);
    return launch<T, VECTORS>(call, args_of(call, found), shape->dtype);
}

Status quantize_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, QUANTIZE_IN_X);
    const bool vectors = is_vectorizable(op_in(call, QUANTIZE_IN_X), x) &&
                         (uintptr_t)op_out(call, QUANTIZE_OUT_Q) % WIDE == 0;
    DISPATCH_FLOAT(x->dtype, T,
                   { return vectors ? quantize<T, true>(call) : quantize<T, false>(call); });
}
