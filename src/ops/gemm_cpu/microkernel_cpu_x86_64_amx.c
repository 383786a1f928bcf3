/* AMX: a tile of 32 x 32 sums is four of 16 x 16, in tmm0 to tmm3; tmm4 and tmm5 are for 16 rows of
 * a each, tmm6 and tmm7 for 16 columns of b as pairs along k. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

#include <pthread.h>

enum {
    MR = 32,
    NR = 32,
    KR = 32,
    PAIR = 2,
    HALF = 16,
    BYTES = 64, /* of a tile's row */
    SPLITS = 2,
    PART = MR * BYTES
};

#define AMX        __attribute__((target("amx-tile,amx-bf16")))
#define AMX_INLINE static inline __attribute__((always_inline)) AMX
#define NEEDS      PACK_AVX512_TARGET ",amx_tile,amx_bf16"

/* As LDTILECFG reads it: eight tiles of 16 rows of 64 bytes. */
typedef struct TileConfig {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} TileConfig;

static const TileConfig tiles = {
    .palette = 1,
    .row_bytes = {BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES},
    .rows = {HALF, HALF, HALF, HALF, HALF, HALF, HALF, HALF}};

/* Loading it takes as long as a twelfth of a multiply: once for each thread. A child process is not sure to
 * inherit it. */
static _Thread_local bool configured;

static void forget(void)
{
    configured = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Before a thread's first instruction on tiles. */
AMX static void configure(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (configured) return;
    pthread_once(&once, watch_forks);
    _tile_loadconfig(&tiles);
    configured = true;
}

AMX_INLINE void amx_begin_sums(const MicrokernelTile *tile)
{
    configure();
    if (!tile->from) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        return;
    }
    const float *from = tile->from, *below = from + HALF * tile->ld_from;
    const long step = (long)(tile->ld_from * (int64_t)sizeof *from);
    _tile_loadd(0, from, step);
    _tile_loadd(1, from + HALF, step);
    _tile_loadd(2, below, step);
    _tile_loadd(3, below + HALF, step);
}

AMX_INLINE void amx_store_sums(const MicrokernelTile *tile)
{
    float *to = tile->to, *below = to + HALF * tile->ld_to;
    const long step = (long)(tile->ld_to * (int64_t)sizeof *to);
    _tile_stored(0, to, step);
    _tile_stored(1, to + HALF, step);
    _tile_stored(2, below, step);
    _tile_stored(3, below + HALF, step);
}

/* ---- bf16 ---- */

/* TDPBF16PS: 16 x 32 of bf16 times 32 x 16, added to 16 x 16 of fp32.
 *
 * Micro-panels of a come from the second-level cache every time: they are loaded with the hint that
 * they will not be needed again (TILELOADDT1), or they would evict the micro-panel of b from the
 * first level.
 *
 * The instruction's own rounding: even and odd numbers of k are summed apart, their sums added to
 * the tile once in 32; denormal numbers count as zero. */
AMX static void multiply(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)
{
    const char *x = a, *y = b;
    amx_begin_sums(tile);
    for (int64_t k = 0; k < groups; k++, x += MR * BYTES, y += NR * BYTES) {
        _tile_loadd(6, y, 2 * BYTES);
        _tile_stream_loadd(4, x, BYTES);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, y + BYTES, 2 * BYTES);
        _tile_dpbf16ps(1, 4, 7);
        _tile_stream_loadd(5, x + HALF * BYTES, BYTES);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    amx_store_sums(tile);
}
/* 16 lines (those beyond `lines` are zeros) of 32 numbers of k each. */
PACK_AVX512_INLINE void pack_square(uint16_t *restrict dst, const uint16_t *restrict src,
                                    int64_t k_step, int64_t lines)
{
    __m512i row[HALF];
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i++, src += 2 * k_step) {
        row[i] = pack_avx512_pairs(src, src + k_step, pack_avx512_mask(lines));
    }
    pack_avx512_transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i++) _mm512_storeu_si512(dst + i * KR, row[i]);
}

/* Whole KR of lines that lie together: pairs of 16 numbers of k, transposed. The rest is for pack_cpu.h,
 * which copies 64 bytes of a line at a time. */
PACK_AVX512_CODE static void pack_a(void *restrict dst, const PackSource *src, int64_t line,
                                    int64_t lines, int64_t first_k, int64_t k)
{
    const int64_t done = src->k_step == 1 ? 0 : k / KR * KR;
    const uint16_t *from = (const uint16_t *)src->data + line + first_k * src->k_step;
    for (int64_t i = 0; i < done; i += KR) {
        for (int r = 0; r < MR; r += HALF) {
            pack_square((uint16_t *)dst + i * MR + r * KR, from + i * src->k_step + r, src->k_step,
                        lines - r);
        }
    }
    pack_cpu_panel((uint16_t *)dst + done * MR, src, line, lines, first_k + done, k - done, MR, KR,
                   DT_BF16);
}

PACK_AVX512(pack_pairs, NR, DT_BF16)

/* Pairs that fill up a whole KR are zeros too. */
static void pack_b(void *restrict dst, const PackSource *src, int64_t line, int64_t lines,
                   int64_t first_k, int64_t k)
{
    const int64_t there = i64_ceil_div(k, PAIR), all = i64_round_up(k, KR) / PAIR;
    pack_pairs(dst, src, line, lines, first_k, k);
    memset((uint16_t *)dst + there * NR * PAIR, 0,
           (size_t)((all - there) * NR * PAIR) * sizeof(uint16_t));
}
const Microkernel microkernel_amx = {
    "amx", NEEDS, DT_BF16, MR, NR, KR, pack_a, pack_b, multiply, 1024, 2 * MICROKERNEL_UNIT};

/* ---- fp16 ---- */

/* fp16 on TDPBF16PS (there is TDPFP16PS, too, which few CPUs have). A number of fp16 is split into
 * two of bf16, a high and a low part: exactly, since each holds 8 bits and it has 11. So a product
 * of two numbers is the sum of four products of their parts, which the instruction adds up in fp32:
 * 256 cycles where VFMADD231PS takes 1024.
 *
 * A micro-panel has the low parts of 32 numbers of k of all lines, in the order of microkernel_amx
 * (but for pairs: see Square), then the high parts. An infinity or a NaN cannot be split: packing
 * sets `unpackable`, and VFMADD231PS computes the GEMM again. */
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
    for (int i = MR; i < 2 * MR; i++) {
        __builtin_prefetch(tile->from + i * tile->ld_from);
        __builtin_prefetch(tile->from + i * tile->ld_from + HALF);
    }
}

AMX static void multiply_split(int64_t groups, const void *a, const void *b,
                               const MicrokernelTile *tile)
{
    const char *x = a, *y = b;
    amx_begin_sums(tile);
    if (tile->from) prefetch_sums(tile);
    for (int64_t k = 0; k < groups; k++, x += SPLITS * PART, y += SPLITS * PART) add_group(x, y);
    amx_store_sums(tile);
}

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

PACK_AVX512_INLINE void pack_split(char *dst, const PackSource *src, int64_t line, int64_t lines,
                                   int64_t first_k, int64_t k, bool of_a)
{
    const __m512i infinity = _mm512_set1_epi32(0x7f800000);
    __m512i most = _mm512_setzero_si512();
    for (int64_t i = 0; i < k; i += KR, dst += SPLITS * PART) {
        for (int64_t r = 0; r < MR; r += HALF) {
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

PACK_AVX512_CODE static void pack_a_split(void *restrict dst, const PackSource *src, int64_t line,
                                          int64_t lines, int64_t first_k, int64_t k)
{
    pack_split(dst, src, line, lines, first_k, k, true);
}

PACK_AVX512_CODE static void pack_b_split(void *restrict dst, const PackSource *src, int64_t line,
                                          int64_t lines, int64_t first_k, int64_t k)
{
    pack_split(dst, src, line, lines, first_k, k, false);
}

const Microkernel microkernel_amx_2bf16 = {.name = "amx_2bf16",
                                           .needs = NEEDS,
                                           .operand = DT_F16,
                                           .mr = MR,
                                           .nr = MR,
                                           .kr = KR,
                                           .pack_a = pack_a_split,
                                           .pack_b = pack_b_split,
                                           .multiply = multiply_split,
                                           .kc_bytes = 1024,
                                           .private_lines = 2 * MICROKERNEL_UNIT,
                                           .splits = SPLITS,
                                           .fallback = &microkernel_avx512};
