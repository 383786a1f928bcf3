/* VDPBF16PS: two products of bf16 added to each fp32. A tile of 12 x 32 as in AVX-512's fp32, on
 * pairs along k: two registers hold 32 pairs of b, one a pair of a in every place.
 *
 * The instruction's own rounding: to nearest after each product, and denormal numbers count as
 * zero. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

enum { MR = 12, NR = 32, KR = 2, LANES = 16, VECTORS = NR / LANES, AHEAD = 128 };

#define AVX512_BF16 __attribute__((target(PACK_AVX512_TARGET ",avx512bf16")))

AVX512_BF16 static void multiply(int64_t groups, const void *a, const void *b,
                                 const MicrokernelTile *tile)
{
    const int32_t *x = a, *y = b; /* pairs */
    const float *from = tile->from;
    __m512 sum[MR][VECTORS];
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < VECTORS; j++) {
            sum[i][j] =
                from ? _mm512_loadu_ps(from + i * tile->ld_from + j * LANES) : _mm512_setzero_ps();
        }
    }
    for (int64_t k = 0; k < groups; k++, x += MR, y += NR) {
        __m512bh row[VECTORS];
        _mm_prefetch((const char *)(x + AHEAD), _MM_HINT_T0);
        for (int j = 0; j < VECTORS; j++) {
            _mm_prefetch((const char *)(y + 2 * AHEAD + j * LANES), _MM_HINT_T0);
        }
        for (int j = 0; j < VECTORS; j++) {
            row[j] = (__m512bh)_mm512_loadu_si512(y + j * LANES);
        }
        for (int i = 0; i < MR; i++) {
            const __m512bh pair = (__m512bh)_mm512_set1_epi32(x[i]);
            for (int j = 0; j < VECTORS; j++) {
                sum[i][j] = _mm512_dpbf16_ps(sum[i][j], pair, row[j]);
            }
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < VECTORS; j++)
            _mm512_storeu_ps(tile->to + i * tile->ld_to + j * LANES, sum[i][j]);
    }
}
PACK_AVX512(pack_a, MR, DT_BF16)
PACK_AVX512(pack_b, NR, DT_BF16)
const Microkernel microkernel_avx512_bf16 = {"avx512_bf16",
                                             PACK_AVX512_TARGET ",avx512_bf16",
                                             DT_BF16,
                                             MR,
                                             NR,
                                             KR,
                                             pack_a,
                                             pack_b,
                                             multiply,
                                             1024,
                                             MICROKERNEL_UNIT};
