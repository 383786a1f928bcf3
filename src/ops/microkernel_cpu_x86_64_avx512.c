/* VFMADD231PS on 512 bits: a tile of 12 x 32 in 24 registers, two to a row; two more hold a row of b, one a
 * number of a in every place. A panel of b can be more than the first-level cache keeps: both panels are asked for
 * ahead. Of rows where they lie, each its own stream, nothing is. */
#include "ops/microkernel_cpu_x86_64.h"
#include "ops/pack_cpu_x86_64_avx512.h"

enum { ROWS = 12, COLUMNS = 32, LANES = 16, VECTORS = COLUMNS / LANES, AHEAD = 128 };

#define AVX512 __attribute__((target(PACK_AVX512_TARGET)))

#define AVX512_INLINE AVX512 PACK_CPU_INLINE

AVX512_INLINE void load(__m512 sum[ROWS][VECTORS], const MicrokernelTile *tile)
{
    const float *from = tile->from;
#pragma GCC unroll 12
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < VECTORS; j++) {
            sum[i][j] =
                from ? _mm512_loadu_ps(from + i * tile->ld_from + j * LANES) : _mm512_setzero_ps();
        }
    }
}

AVX512_INLINE void store(__m512 sum[ROWS][VECTORS], const MicrokernelTile *tile)
{
#pragma GCC unroll 12
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < VECTORS; j++)
            _mm512_storeu_ps(tile->to + i * tile->ld_to + j * LANES, sum[i][j]);
    }
}

AVX512_INLINE void load_row(__m512 row[VECTORS], const float *y)
{
    for (int j = 0; j < VECTORS; j++) {
        _mm_prefetch((const char *)(y + 2 * AHEAD + j * LANES), _MM_HINT_T0);
    }
    for (int j = 0; j < VECTORS; j++) row[j] = _mm512_loadu_ps(y + j * LANES);
}

AVX512_INLINE void add(__m512 sum[VECTORS], float x, const __m512 row[VECTORS])
{
    const __m512 number = _mm512_set1_ps(x);
    for (int j = 0; j < VECTORS; j++) sum[j] = _mm512_fmadd_ps(number, row[j], sum[j]);
}

AVX512 static void multiply(int64_t groups, const void *a, const void *b,
                            const MicrokernelTile *tile)
{
    const float *x = a, *y = b;
    __m512 sum[ROWS][VECTORS], row[VECTORS];
    load(sum, tile);
    for (int64_t k = 0; k < groups; k++, x += ROWS, y += COLUMNS) {
        _mm_prefetch((const char *)(x + AHEAD), _MM_HINT_T0);
        load_row(row, y);
        for (int i = 0; i < ROWS; i++) add(sum[i], x[i], row);
    }
    store(sum, tile);
}

/* Twelve pointers are too many: there is one for three rows, which addresses reach without another instruction, 0, 1 or 2
 * steps away (unrolled, because clang keeps sums in memory otherwise). */
AVX512 static void multiply_rows(int64_t k, const float *a, int64_t step, const void *b,
                                 const MicrokernelTile *tile)
{
    enum { NEAR = 3 };
    const float *x[ROWS / NEAR], *y = b;
    __m512 sum[ROWS][VECTORS], row[VECTORS];
    load(sum, tile);
    for (int i = 0; i < ROWS / NEAR; i++) x[i] = a + i * NEAR * step;
    for (; k > 0; k--, y += COLUMNS) {
        load_row(row, y);
#pragma GCC unroll 12
        for (int i = 0; i < ROWS; i++) add(sum[i], x[i / NEAR][i % NEAR * step], row);
        for (int i = 0; i < ROWS / NEAR; i++) x[i]++;
    }
    store(sum, tile);
}
PACK_AVX512(pack_a, ROWS, DT_F32)
PACK_AVX512(pack_b, COLUMNS, DT_F32)
const Microkernel microkernel_avx512 = {"avx512",
                                        PACK_AVX512_TARGET,
                                        DT_F32,
                                        ROWS,
                                        COLUMNS,
                                        1,
                                        pack_a,
                                        pack_b,
                                        multiply,
                                        1024,
                                        MICROKERNEL_GRAIN,
                                        .multiply_rows = multiply_rows};
