/* Matrix products of our own: operands are packed into panels, beforehand or by the thread that multiplies them. Threads
 * take blocks of the result as they become free, so that one that is slow for a while does not hold up the others. They wait
 * for each other at the end, and where something is packed beforehand after that. Every block sums over all of k in order: the
 * result depends neither on the number of threads nor on how the work was cut. A product with numbers that are beyond the
 * kernel's panels is made again, all of it, by the kernel's `instead`. */
#ifndef OPS_GEMM_CPU_GEMM_CPU_H
#define OPS_GEMM_CPU_GEMM_CPU_H

#include "ops/gemm_cpu/microkernel_cpu.h"

typedef struct GemmPlan {
    const Microkernel *kernel;
    int64_t m, n, k;
    PackSource a, b; /* lines are rows of op(a), columns of op(b) */
    float scale;     /* c = scale op(a) op(b) */
    void *c;
    DType c_dtype;
    int64_t ldc;
} GemmPlan;

/* Needs the kernel and the sizes alone. */
size_t gemm_workspace(const GemmPlan *p, int threads);
void gemm_multiply(const GemmPlan *p, void *workspace, int threads);

#endif
