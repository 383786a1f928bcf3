/* VFMADD231PS: a tile of 6 x 16 in twelve registers, two to a row; two more hold a row of b, one a number of
 * a in every place. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx2.h"

enum { MR = 6, NR = 16, LANES = 8, VECTORS = NR / LANES, AHEAD = 64 };

#define AVX2 __attribute__((target(PACK_AVX2_TARGET)))

AVX2 static void multiply(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)
{
    const float *x = a, *y = b;
    const float *from = tile->from;
    __m256 sum[MR][VECTORS];
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < VECTORS; j++) {
            sum[i][j] =
                from ? _mm256_loadu_ps(from + i * tile->ld_from + j * LANES) : _mm256_setzero_ps();
        }
    }
    for (int64_t k = 0; k < groups; k++, x += MR, y += NR) {
        __m256 row[VECTORS];
        _mm_prefetch((const char *)(x + AHEAD), _MM_HINT_T0);
        for (int j = 0; j < VECTORS; j++) row[j] = _mm256_loadu_ps(y + j * LANES);
        for (int i = 0; i < MR; i++) {
            const __m256 number = _mm256_broadcast_ss(x + i);
            for (int j = 0; j < VECTORS; j++) {
                sum[i][j] = _mm256_fmadd_ps(number, row[j], sum[i][j]);
            }
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < VECTORS; j++)
            _mm256_storeu_ps(tile->to + i * tile->ld_to + j * LANES, sum[i][j]);
    }
}
PACK_AVX2(pack_a, MR)
PACK_AVX2(pack_b, NR)
const Microkernel microkernel_avx2 = {"avx2", PACK_AVX2_TARGET, DT_F32, MR,       NR,
                                      1,      pack_a,           pack_b, multiply, 1536,
                                      0,      MICROKERNEL_UNIT};
