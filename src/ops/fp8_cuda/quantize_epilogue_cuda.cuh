/* Quantizing numbers where a kernel makes them, with sizes of earlier steps (ops/fp8/quantize.c). A
 * block has a part of the matrix in its registers, 128 rows of 64 columns, and writes it as it lies
 * and transposed: rows of 64 bytes, and 128 of a column. Half as wide as the tile of quantize: several
 * blocks share an SM then, and some read while others write. */
#pragma once

#include "ops/fp8/quantize.h"
#include "ops/fp8_cuda/quantize_words_cuda.cuh"

enum { PART_WIDE = 64, PART_THREADS = TILE * PART_WIDE / (HIGH * WIDE) };

/* Where a thread's rows and columns begin, and its block's. All of a thread's are in the matrix or
 * none, because rows are a multiple of 16 and columns of 8. */
struct PartPlace {
    int64_t first_row, first_col;
    int row, col; /* in the part */
    bool inside;
};

__device__ __forceinline__ PartPlace part_place(int64_t rows, int64_t cols, unsigned parts_wide)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    PartPlace p;
    p.first_row = blockIdx.x / parts_wide * (int64_t)TILE;
    p.first_col = blockIdx.x % parts_wide * (int64_t)PART_WIDE;
    p.row = warp / 2 * WARP_SIDE + lane / 4 * HIGH;
    p.col = warp % 2 * WARP_SIDE + lane % 4 * WIDE;
    p.inside = p.first_row + p.row < rows && p.first_col + p.col < cols;
    return p;
}

/* A quantized tensor, or a window of columns into it: where its first one lies. */
struct PartTarget {
    uint8_t *q, *transposed; /* NULL: absent */
    float *scale, *transposed_scale, *amax;
    const float *recent;
    int64_t rows, cols, ld;
};

/* Transposed, 4 rows a word; one more, for the banks' sake. */
struct PartWords {
    unsigned word[PART_WIDE][TILE / 4 + 1];
    unsigned most[QUANTIZE_PLACES]; /* the largest size of each tensor */
};

/* By all threads, before a barrier. */
__device__ __forceinline__ void part_clear(PartWords &s)
{
    if (threadIdx.x < QUANTIZE_PLACES) s.most[threadIdx.x] = 0;
}

__device__ __forceinline__ void part_note(const float (&v)[HIGH][WIDE], unsigned *most)
{
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
#pragma unroll
        for (int j = 0; j < WIDE; j++) mine = max(mine, size_bits(v[i][j]));
    }
    mine = lanes_most(mine, 1, 16);
    if (threadIdx.x % 32 == 0) atomicMax(most, mine);
}

template <bool E5M2>
__device__ __forceinline__ void part_store_rows(const PartTarget &t, const float (&v)[HIGH][WIDE],
                                                const PartPlace &p, float factor)
{
    uint8_t *q = t.q + (p.first_row + p.row) * t.ld + p.first_col + p.col;
#pragma unroll
    for (int i = 0; i < HIGH; i++, q += t.ld) {
        *reinterpret_cast<uint2 *>(q) =
            make_uint2(narrow_by<E5M2>(v[i], factor), narrow_by<E5M2>(v[i] + 4, factor));
    }
}

template <bool E5M2>
__device__ __forceinline__ void part_keep_columns(const float (&v)[HIGH][WIDE], const PartPlace &p,
                                                  float factor, PartWords &s)
{
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
        const float column[] = {v[0][j], v[1][j], v[2][j], v[3][j]};
        s.word[p.col + j][p.row / HIGH] = narrow_by<E5M2>(column, factor);
    }
}

/* Eight threads write the 128 bytes of a column. */
__device__ __forceinline__ void part_store_columns(const PartTarget &t, const PartPlace &p,
                                                   const PartWords &s)
{
    enum { BYTES = 16, PIECES = TILE / BYTES };
    for (int i = threadIdx.x; i < PART_WIDE * PIECES; i += PART_THREADS) {
        const int c = i / PIECES, w = i % PIECES * (BYTES / 4);
        const int64_t col = p.first_col + c, row = p.first_row + w * 4;
        if (col >= t.cols || row >= t.rows) continue;
        *reinterpret_cast<uint4 *>(t.transposed + col * t.rows + row) =
            make_uint4(s.word[c][w], s.word[c][w + 1], s.word[c][w + 2], s.word[c][w + 3]);
    }
}

/* By all threads of a block, with zeros where the part ends beyond the matrix. */
template <bool E5M2>
__device__ __forceinline__ void part_quantize(const PartTarget &t, const float (&v)[HIGH][WIDE],
                                              const PartPlace &p, unsigned *most, PartWords &s)
{
    const float factor = factor_for<E5M2>(*t.recent);
    part_note(v, most);
    if (t.q && p.inside) part_store_rows<E5M2>(t, v, p, factor);
    if (!t.transposed) return;
    __syncthreads(); /* what was in `s` before is written */
    part_keep_columns<E5M2>(v, p, factor, s);
    __syncthreads();
    part_store_columns(t, p, s);
}

/* After a barrier that follows the last part_quantize(): the scale, once, and the largest size. */
template <bool E5M2> __device__ __forceinline__ void part_end(const PartTarget &t, unsigned most)
{
    if (t.amax) raise_amax(t.amax, most);
    if (blockIdx.x > 0) return;
    const float scale = __fdiv_rn(1, factor_for<E5M2>(*t.recent));
    if (t.scale) *t.scale = scale;
    if (t.transposed_scale) *t.transposed_scale = scale;
}

static inline bool part_aligned(const void *data)
{
    return (uintptr_t)data % 16 == 0;
}

static inline Status part_target(const OpCall *call, const QuantizePlace &place, int64_t rows,
                                 int64_t cols, PartTarget *t)
{
    *t = {};
    t->q = (uint8_t *)op_out(call, place.out + QUANTIZE_OUT_Q);
    t->scale = (float *)op_out(call, place.out + QUANTIZE_OUT_SCALE);
    t->transposed = (uint8_t *)op_out(call, place.out + QUANTIZE_OUT_TRANSPOSED);
    t->transposed_scale = (float *)op_out(call, place.out + QUANTIZE_OUT_TRANSPOSED_SCALE);
    t->amax = (float *)op_out(call, place.out + QUANTIZE_OUT_AMAX);
    t->recent = (const float *)op_in(call, place.recent);
    t->rows = rows;
    t->cols = t->ld = cols;
    if (part_aligned(t->q) && part_aligned(t->transposed)) return ST_OK;
    return FAIL(ST_FAILED, "%s: 8-bit numbers that begin at no multiple of 16 bytes",
                call->node->scope);
}
