/* VFMADD231PS: a tile of 6 x 16 in twelve registers, two to a row; two more hold a row of b, one a number of
 * a in every place. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"

enum { MR = 6, NR = 16, LANES = 8, VECTORS = NR / LANES, AHEAD_A = 64, AHEAD_B = 0 };

#define TARGET      "avx2,fma,f16c"
#define AVX2        __attribute__((target(TARGET)))
#define AVX2_INLINE static inline __attribute__((always_inline)) AVX2

/* ---- multiplying ---- */

#define LOAD_ROW(y)           _mm256_loadu_ps(y)
#define EVERYWHERE(x)         _mm256_broadcast_ss(x)
#define ADD(sum, number, row) _mm256_fmadd_ps(number, row, sum)

MICROKERNEL_X86_64(TARGET, 256, float, __m256)

/* ---- packing: floats that lie along k are transposed in registers, up to 8 lines of 8 at a time ---- */

/* row[i] becomes column i. Four lines first, in each half by itself; then the halves are exchanged. */
AVX2_INLINE void transpose(__m256 row[8])
{
    __m256 t[8];
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        const __m256 low01 = _mm256_unpacklo_ps(row[i], row[i + 1]);
        const __m256 high01 = _mm256_unpackhi_ps(row[i], row[i + 1]);
        const __m256 low23 = _mm256_unpacklo_ps(row[i + 2], row[i + 3]);
        const __m256 high23 = _mm256_unpackhi_ps(row[i + 2], row[i + 3]);
        t[i] = _mm256_shuffle_ps(low01, low23, 0x44);
        t[i + 1] = _mm256_shuffle_ps(low01, low23, 0xee);
        t[i + 2] = _mm256_shuffle_ps(high01, high23, 0x44);
        t[i + 3] = _mm256_shuffle_ps(high01, high23, 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        row[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        row[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

AVX2_INLINE __m256 load_floats(const void *src, DType dtype)
{
    if (dtype == DT_F32) return _mm256_loadu_ps(src);
    const __m128i narrow = _mm_loadu_si128(src);
    if (dtype == DT_F16) return _mm256_cvtph_ps(narrow);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(narrow), 16));
}

/* The first 8 or 6: masked stores are slow on some CPUs. */
AVX2_INLINE void store_floats(float *dst, __m256 v, int n)
{
    if (n == 8) {
        _mm256_storeu_ps(dst, v);
    } else {
        _mm_storeu_ps(dst, _mm256_castps256_ps128(v));
        _mm_storel_pi((__m64 *)(void *)(dst + 4), _mm256_extractf128_ps(v, 1));
    }
}

/* Whole micro-panels along k, eight numbers at a time; returns how many numbers of k that was.
 * `panel` is 6 or a multiple of 8. */
AVX2_INLINE int64_t pack_along(float *restrict dst, const void *restrict src, int64_t line_step,
                               int64_t k, int panel, DType dtype)
{
    const int64_t whole = k / LANES * LANES;
    const int n = panel < LANES ? panel : LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int r = 0; r < panel; r += LANES) {
            __m256 row[8];
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) {
                row[j] = j < n
                             ? load_floats(rows_cpu_at(src, dtype, (r + j) * line_step + i), dtype)
                             : _mm256_setzero_ps();
            }
            transpose(row);
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) store_floats(dst + (i + j) * panel + r, row[j], n);
        }
    }
    return whole;
}

AVX2_INLINE int64_t pack_typed(void *restrict dst, const PackSource *src, int64_t line,
                               int64_t lines, int64_t first_k, int64_t k, int panel, DType dtype)
{
    if (src->k_step != 1 || lines < panel) return 0;
    return pack_along(dst, rows_cpu_at(src->data, dtype, line * src->line_step + first_k),
                      src->line_step, k, panel, dtype);
}

AVX2_INLINE int64_t pack_panel(void *restrict dst, const PackSource *src, int64_t line,
                               int64_t lines, int64_t first_k, int64_t k, int panel)
{
    if (src->dtype == DT_BF16) return pack_typed(dst, src, line, lines, first_k, k, panel, DT_BF16);
    if (src->dtype == DT_F16) return pack_typed(dst, src, line, lines, first_k, k, panel, DT_F16);
    return pack_typed(dst, src, line, lines, first_k, k, panel, DT_F32);
}

/* static PackPanel NAME, as PACK_CPU, of floats one by one. */
#define PACK(name, panel)                                                                         \
    AVX2 static void name(void *restrict dst, const PackSource *src, int64_t line, int64_t lines, \
                          int64_t first_k, int64_t k)                                             \
    {                                                                                             \
        const int64_t done = pack_panel(dst, src, line, lines, first_k, k, panel);                \
        pack_cpu_panel(rows_cpu_at(dst, DT_F32, done *(panel)), src, line, lines, first_k + done, \
                       k - done, panel, 1, DT_F32);                                               \
    }

PACK(pack_a, MR)
PACK(pack_b, NR)
const Microkernel microkernel_avx2 = {"avx2", TARGET, DT_F32,   MR,   NR, 1,
                                      pack_a, pack_b, multiply, 1536, 0,  MICROKERNEL_UNIT};
