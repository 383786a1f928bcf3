/* Packing on 512 bits. What lies along k is transposed in registers, 16 lines of 16 units at a time
 * (a unit is a float, or a pair of bf16), so that every cache line is read once, whatever the
 * distance between lines. */
#pragma once

#include "ops/gemm_cpu/pack_cpu.h"

#include <immintrin.h>

#define PACK_AVX512_TARGET "avx512f,avx512bw,avx512vl"
#define PACK_AVX512_CODE   __attribute__((target(PACK_AVX512_TARGET)))
#define PACK_AVX512_INLINE static inline __attribute__((always_inline, target(PACK_AVX512_TARGET)))

enum { PACK_AVX512_UNITS = 16 };

PACK_AVX512_INLINE __mmask16 pack_avx512_mask(int64_t n)
{
    return (__mmask16)(n >= PACK_AVX512_UNITS ? 0xffff : n <= 0 ? 0 : (1U << n) - 1);
}

/* row[i] becomes column i. Four lines first, in each quarter by itself; then the quarters are exchanged. */
PACK_AVX512_INLINE void pack_avx512_transpose(__m512i row[16])
{
    __m512i t[16];
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        const __m512i low01 = _mm512_unpacklo_epi32(row[i], row[i + 1]);
        const __m512i high01 = _mm512_unpackhi_epi32(row[i], row[i + 1]);
        const __m512i low23 = _mm512_unpacklo_epi32(row[i + 2], row[i + 3]);
        const __m512i high23 = _mm512_unpackhi_epi32(row[i + 2], row[i + 3]);
        t[i] = _mm512_unpacklo_epi64(low01, low23);
        t[i + 1] = _mm512_unpackhi_epi64(low01, low23);
        t[i + 2] = _mm512_unpacklo_epi64(high01, high23);
        t[i + 3] = _mm512_unpackhi_epi64(high01, high23);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512i even0 = _mm512_shuffle_i32x4(t[i], t[i + 4], 0x88);
        const __m512i odd0 = _mm512_shuffle_i32x4(t[i], t[i + 4], 0xdd);
        const __m512i even1 = _mm512_shuffle_i32x4(t[i + 8], t[i + 12], 0x88);
        const __m512i odd1 = _mm512_shuffle_i32x4(t[i + 8], t[i + 12], 0xdd);
        row[i] = _mm512_shuffle_i32x4(even0, even1, 0x88);
        row[i + 4] = _mm512_shuffle_i32x4(odd0, odd1, 0x88);
        row[i + 8] = _mm512_shuffle_i32x4(even0, even1, 0xdd);
        row[i + 12] = _mm512_shuffle_i32x4(odd0, odd1, 0xdd);
    }
}

/* Units of a line, widened where panels hold floats and the line does not. */
PACK_AVX512_INLINE __m512i pack_avx512_load(const void *src, __mmask16 there, DType as, DType dtype)
{
    if (as == dtype) return _mm512_maskz_loadu_epi32(there, src);
    const __m256i narrow = _mm256_maskz_loadu_epi16(there, src);
    if (dtype == DT_F16) return _mm512_castps_si512(_mm512_cvtph_ps(narrow));
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(narrow), 16);
}

/* Pairs of bf16 of neighbouring lines: number k of each and number k + 1. */
PACK_AVX512_INLINE __m512i pack_avx512_pairs(const uint16_t *k0, const uint16_t *k1,
                                             __mmask16 there)
{
    const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, k0));
    const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, k1));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* `lines` lines from src on, `units` units of each, into dst[unit][panel]. */
PACK_AVX512_INLINE void pack_avx512_along(uint32_t *restrict dst, const void *restrict src,
                                          int64_t line_step, int64_t lines, int64_t units,
                                          int panel, DType as, DType dtype)
{
    const int64_t of_unit = as == DT_BF16 ? 2 : 1;
    for (int64_t u = 0; u < units; u += PACK_AVX512_UNITS) {
        const __mmask16 there = pack_avx512_mask(units - u);
        for (int r = 0; r < panel; r += PACK_AVX512_UNITS) {
            __m512i row[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) {
                const void *line = rows_cpu_at(src, dtype, (r + i) * line_step + u * of_unit);
                row[i] = pack_avx512_load(line, r + i < lines ? there : 0, as, dtype);
            }
            pack_avx512_transpose(row);
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) {
                if (u + i >= units) break;
                _mm512_mask_storeu_epi32(dst + (u + i) * panel + r, pack_avx512_mask(panel - r),
                                         row[i]);
            }
        }
    }
}

/* Pairs of k where neighbours in memory are those of other lines, into dst[pair][panel]. */
PACK_AVX512_INLINE void pack_avx512_across_pairs(uint32_t *restrict dst,
                                                 const uint16_t *restrict src, int64_t k_step,
                                                 int64_t lines, int64_t pairs, int panel)
{
    for (int64_t i = 0; i < pairs; i++, src += 2 * k_step) {
        for (int r = 0; r < panel; r += PACK_AVX512_UNITS) {
            _mm512_mask_storeu_epi32(
                dst + i * panel + r, pack_avx512_mask(panel - r),
                pack_avx512_pairs(src + r, src + k_step + r, pack_avx512_mask(lines - r)));
        }
    }
}

PACK_AVX512_INLINE int64_t pack_avx512_typed(void *restrict dst, const PackSource *src,
                                             int64_t line, int64_t lines, int64_t first_k,
                                             int64_t k, int panel, DType as, DType dtype)
{
    const void *from = rows_cpu_at(src->data, dtype, line * src->line_step + first_k * src->k_step);
    const int64_t units = as == DT_BF16 ? k / 2 : k, done = as == DT_BF16 ? units * 2 : units;
    if (src->k_step == 1) {
        pack_avx512_along(dst, from, src->line_step, lines, units, panel, as, dtype);
    } else if (as == DT_BF16) {
        pack_avx512_across_pairs(dst, from, src->k_step, lines, units, panel);
    } else {
        return 0;
    }
    return done;
}

/* Packs whole units and returns how many numbers of k that was. */
PACK_AVX512_INLINE int64_t pack_avx512_panel(void *restrict dst, const PackSource *src,
                                             int64_t line, int64_t lines, int64_t first_k,
                                             int64_t k, int panel, DType as)
{
    if (as == DT_BF16 || src->dtype == DT_BF16)
        return pack_avx512_typed(dst, src, line, lines, first_k, k, panel, as, DT_BF16);
    if (src->dtype == DT_F16)
        return pack_avx512_typed(dst, src, line, lines, first_k, k, panel, as, DT_F16);
    return pack_avx512_typed(dst, src, line, lines, first_k, k, panel, as, DT_F32);
}

/* static PackPanel NAME, as PACK_CPU: floats one by one, or bf16 in pairs. */
#define PACK_AVX512(name, panel, as)                                                           \
    PACK_AVX512_CODE static void name(void *restrict dst, const PackSource *src, int64_t line, \
                                      int64_t lines, int64_t first_k, int64_t k)               \
    {                                                                                          \
        const int64_t done = pack_avx512_panel(dst, src, line, lines, first_k, k, panel, as);  \
        pack_cpu_panel(rows_cpu_at(dst, as, done *(panel)), src, line, lines, first_k + done,  \
                       k - done, panel, (as) == DT_BF16 ? 2 : 1, as);                          \
    }
