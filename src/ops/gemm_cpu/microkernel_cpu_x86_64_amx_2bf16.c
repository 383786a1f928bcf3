/* fp16 on TDPBF16PS (there is TDPFP16PS, too, which few CPUs have). A number of fp16 is split into
 * two of bf16, a high and a low part: exactly, since each holds 8 bits and it has 11. So a product
 * of two numbers is the sum of four products of their parts, which the instruction adds up in fp32:
 * 256 cycles where VFMADD231PS takes 1024.
 *
 * A micro-panel has the low parts of 32 numbers of k of all lines, in the order of microkernel_amx
 * (but for pairs: see Square), then the high parts. An infinity or a NaN cannot be split: packing
 * sets `unpackable`, and VFMADD231PS computes the GEMM again. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64_amx.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

enum {
    LINES = 32, /* rows and columns */
    KR = 32,
    HALF = AMX_HALF,
    BYTES = AMX_BYTES,
    PART = LINES * BYTES,
    SPLITS = 2
};

#define SPLIT_TARGET __attribute__((target(PACK_AVX512_TARGET)))

/* ---- multiplying ---- */

AMX_INLINE void load_rows(const char *x)
{
    _tile_stream_loadd(4, x, BYTES);
    _tile_stream_loadd(5, x + HALF * BYTES, BYTES);
}

AMX_INLINE void load_columns(const char *y)
{
    _tile_loadd(6, y, 2 * BYTES);
    _tile_loadd(7, y + BYTES, 2 * BYTES);
}

AMX_INLINE void add_products(void)
{
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

/* Low rows, then high ones, so that rows are loaded once; the largest products come last. */
AMX_INLINE void add_group(const char *x, const char *y)
{
    load_columns(y + PART);
    load_rows(x);
    add_products();
    load_columns(y);
    add_products();
    load_rows(x + PART);
    add_products();
    load_columns(y + PART);
    add_products();
}

/* Sums of the tile below, which is most often the next one. */
AMX_INLINE void prefetch_sums(const MicrokernelTile *tile)
{
    for (int i = LINES; i < 2 * LINES; i++) {
        __builtin_prefetch(tile->from + i * tile->ld_from);
        __builtin_prefetch(tile->from + i * tile->ld_from + HALF);
    }
}

AMX static void multiply(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)
{
    const char *x = a, *y = b;
    microkernel_amx_configure();
    if (tile->from) {
        amx_load_sums(tile);
        prefetch_sums(tile);
    } else {
        amx_begin_sums();
    }
    for (int64_t k = 0; k < groups; k++, x += SPLITS * PART, y += SPLITS * PART) add_group(x, y);
    amx_store_sums(tile);
}

/* ---- packing ---- */

/* 16 lines of 32 numbers of k, as pairs of number k and number k + 16, which is the same order for
 * a and for b: a row is a line or, where neighbours in memory are those of other lines, a pair of
 * 16 lines. */
typedef struct Square {
    __m512i low[HALF], high[HALF];
} Square;

/* The nearest number of bf16 to each, as floats. */
PACK_AVX512_INLINE __m512i nearest(__m512i x)
{
    return _mm512_and_si512(_mm512_add_epi32(x, _mm512_set1_epi32(0x8000)),
                            _mm512_set1_epi32((int)0xffff0000));
}

PACK_AVX512_INLINE __m512i less(__m512i x, __m512i y)
{
    return _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y)));
}

/* Floats whose lower halves are zeros, as pairs of bf16. */
PACK_AVX512_INLINE __m512i pairs(__m512i x, __m512i y)
{
    return _mm512_or_si512(_mm512_srli_epi32(x, 16), y);
}

PACK_AVX512_INLINE void keep_largest(__m512i *most, __m512i x)
{
    *most = _mm512_max_epu32(*most, _mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff)));
}

/* `lines` and `k` are what is left of the source from here on; `most` becomes the bits of the
 * largest number. */
PACK_AVX512_INLINE void read_square(Square *s, __m512i *most, const uint16_t *src,
                                    const PackSource *of, int64_t lines, int64_t k)
{
    const bool along = of->k_step == 1;
    const int64_t step = along ? of->line_step : of->k_step, other = along ? 1 : of->k_step;
    const __mmask16 first = pack_avx512_mask(along ? k : lines),
                    second = along ? pack_avx512_mask(k - HALF) : first;
    const int64_t rows = along ? lines : k, more = along ? lines : k - HALF;
#pragma GCC unroll 2
    for (int i = 0; i < HALF; i++) {
        const uint16_t *at = src + i * step;
        const __m512i x = pack_avx512_load(at, i < rows ? first : 0, DT_F32, DT_F16);
        const __m512i y =
            pack_avx512_load(at + HALF * other, i < more ? second : 0, DT_F32, DT_F16);
        const __m512i high_x = nearest(x), high_y = nearest(y);
        keep_largest(most, x);
        keep_largest(most, y);
        s->high[i] = pairs(high_x, high_y);
        s->low[i] = pairs(less(x, high_x), less(y, high_y));
    }
}

/* Rows of a are lines, those of b pairs. */
PACK_AVX512_INLINE void write_part(__m512i row[HALF], char *dst, bool of_a, bool along)
{
    if (of_a != along) pack_avx512_transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i++) {
        _mm512_storeu_si512(dst + i * (of_a ? BYTES : 2 * BYTES), row[i]);
    }
}

PACK_AVX512_INLINE void pack(char *dst, const PackSource *src, int64_t line, int64_t lines,
                             int64_t first_k, int64_t k, bool of_a)
{
    const __m512i infinity = _mm512_set1_epi32(0x7f800000);
    __m512i most = _mm512_setzero_si512();
    for (int64_t i = 0; i < k; i += KR, dst += SPLITS * PART) {
        for (int64_t r = 0; r < LINES; r += HALF) {
            Square s;
            const uint16_t *from = (const uint16_t *)src->data + (line + r) * src->line_step +
                                   (first_k + i) * src->k_step;
            char *to = dst + r * (of_a ? BYTES : BYTES / HALF);
            read_square(&s, &most, from, src, lines - r, k - i);
            write_part(s.low, to, of_a, src->k_step == 1);
            write_part(s.high, to + PART, of_a, src->k_step == 1);
        }
    }
    if (_mm512_cmpge_epu32_mask(most, infinity)) {
        __atomic_store_n(src->unpackable, true, __ATOMIC_RELAXED);
    }
}

SPLIT_TARGET static void pack_a(void *restrict dst, const PackSource *src, int64_t line,
                                int64_t lines, int64_t first_k, int64_t k)
{
    pack(dst, src, line, lines, first_k, k, true);
}

SPLIT_TARGET static void pack_b(void *restrict dst, const PackSource *src, int64_t line,
                                int64_t lines, int64_t first_k, int64_t k)
{
    pack(dst, src, line, lines, first_k, k, false);
}

const Microkernel microkernel_amx_2bf16 = {.name = "amx_2bf16",
                                           .needs = PACK_AVX512_TARGET ",amx_tile,amx_bf16",
                                           .operand = DT_F16,
                                           .mr = LINES,
                                           .nr = LINES,
                                           .kr = KR,
                                           .pack_a = pack_a,
                                           .pack_b = pack_b,
                                           .multiply = multiply,
                                           .kc_bytes = 1024,
                                           .private_lines = 2 * MICROKERNEL_UNIT,
                                           .splits = SPLITS,
                                           .fallback = &microkernel_avx512};
