/* One block of c over all of k: BLIS's macro-kernel, with the loop over KC around it. */
#ifndef OPS_GEMM_CPU_GEMM_MACROKERNEL_CPU_H
#define OPS_GEMM_CPU_GEMM_MACROKERNEL_CPU_H

#include "ops/gemm_cpu/gemm_pack_cpu.h"

/* Of the sums of a block: a thread's own. */
int64_t gemm_macrokernel_bytes(const GemmPlan *p, const GemmBlocking *b);

/* Computes block i; `g` is the thread's own, with its private panels. */
void gemm_macrokernel(Gemm *g, int64_t i, float *sums);

#endif
