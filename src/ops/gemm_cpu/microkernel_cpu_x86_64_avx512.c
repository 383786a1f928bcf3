/* VFMADD231PS on 512 bits: a tile of 12 x 32 in 24 registers, two to a row; two more hold a row of b, one a
 * number of a in every place. A micro-panel of b can be more than the first-level cache keeps: both are
 * prefetched. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

enum { MR = 12, NR = 32, LANES = 16, VECTORS = NR / LANES, AHEAD = 128 };

#define AVX512 __attribute__((target(PACK_AVX512_TARGET)))

AVX512 static void multiply(int64_t groups, const void *a, const void *b,
                            const MicrokernelTile *tile)
{
    const float *x = a, *y = b;
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
        __m512 row[VECTORS];
        _mm_prefetch((const char *)(x + AHEAD), _MM_HINT_T0);
        for (int j = 0; j < VECTORS; j++) {
            _mm_prefetch((const char *)(y + 2 * AHEAD + j * LANES), _MM_HINT_T0);
        }
        for (int j = 0; j < VECTORS; j++) row[j] = _mm512_loadu_ps(y + j * LANES);
        for (int i = 0; i < MR; i++) {
            const __m512 number = _mm512_set1_ps(x[i]);
            for (int j = 0; j < VECTORS; j++) {
                sum[i][j] = _mm512_fmadd_ps(number, row[j], sum[i][j]);
            }
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < VECTORS; j++)
            _mm512_storeu_ps(tile->to + i * tile->ld_to + j * LANES, sum[i][j]);
    }
}
PACK_AVX512(pack_a, MR, DT_F32)
PACK_AVX512(pack_b, NR, DT_F32)
const Microkernel microkernel_avx512 = {
    "avx512", PACK_AVX512_TARGET, DT_F32, MR, NR, 1, pack_a, pack_b, multiply,
    1024,     MICROKERNEL_UNIT};
