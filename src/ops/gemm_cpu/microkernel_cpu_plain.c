/* fp32 in plain C, for processors that have none of their own and to test what is above it. */
#include "ops/gemm_cpu/microkernel_cpu.h"

enum { ROWS = 4, COLUMNS = 16 };

CPU_CLONES static void multiply(int64_t groups, const void *a, const void *b,
                                const MicrokernelTile *tile)
{
    const float *x = a, *y = b, *from = tile->from;
    float sum[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) sum[i][j] = from ? from[i * tile->ld_from + j] : 0;
    }
    for (int64_t k = 0; k < groups; k++, x += ROWS, y += COLUMNS) {
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) sum[i][j] += x[i] * y[j];
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) tile->to[i * tile->ld_to + j] = sum[i][j];
    }
}

PACK_CPU(pack_a, ROWS, 1, DT_F32)
PACK_CPU(pack_b, COLUMNS, 1, DT_F32)

const Microkernel microkernel_plain = {"plain", NULL,   DT_F32,   ROWS, COLUMNS, 1,
                                       pack_a,  pack_b, multiply, 1536, 0,       MICROKERNEL_GRAIN};
