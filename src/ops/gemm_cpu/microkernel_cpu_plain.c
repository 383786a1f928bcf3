/* fp32 in plain C, for CPUs that have no micro-kernel of their own, and for tests of the loops around it. */
#include "ops/gemm_cpu/microkernel_cpu.h"

enum { MR = 4, NR = 16 };

CPU_CLONES static void multiply(int64_t groups, const void *a, const void *b,
                                const MicrokernelTile *tile)
{
    const float *x = a, *y = b, *from = tile->from;
    float sum[MR][NR];
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < NR; j++) sum[i][j] = from ? from[i * tile->ld_from + j] : 0;
    }
    for (int64_t k = 0; k < groups; k++, x += MR, y += NR) {
        for (int i = 0; i < MR; i++) {
            for (int j = 0; j < NR; j++) sum[i][j] += x[i] * y[j];
        }
    }
    for (int i = 0; i < MR; i++) {
        for (int j = 0; j < NR; j++) tile->to[i * tile->ld_to + j] = sum[i][j];
    }
}

PACK_CPU(pack_a, MR, 1, DT_F32)
PACK_CPU(pack_b, NR, 1, DT_F32)

const Microkernel microkernel_plain = {"plain", NULL,   DT_F32,   MR,   NR, 1,
                                       pack_a,  pack_b, multiply, 1536, 0,  MICROKERNEL_UNIT};
