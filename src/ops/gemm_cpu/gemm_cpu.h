/* Our own GEMM on a CPU (gemm_parts_cpu.h has its loops). Operands are packed into micro-panels,
 * by all threads before the first block or by the thread that multiplies them. Threads take blocks
 * of the result as they become free, so that a slow one does not hold up the others, and meet at
 * the end; where something is packed before, they meet after that, too. Every block sums over all
 * of k in order: the result depends neither on the number of threads nor on the blocking. Where a
 * number does not fit the micro-panels, the kernel's `fallback` computes the whole GEMM again. */
#pragma once

#include "ops/gemm_cpu/gemm_operands.h"
#include "ops/gemm_cpu/microkernel_cpu.h"

typedef struct GemmPlan {
    const Microkernel *kernel;
    int64_t m, n, k;
    PackSource a, b;  /* lines are rows of op(a), columns of op(b) */
    float scale;      /* c = scale op(a) op(b) + bias */
    bool accumulate;  /* c += that */
    const void *bias; /* [n]; NULL: none */
    DType bias_dtype;
    void *c;
    DType c_dtype;
    int64_t ldc;
} GemmPlan;

GemmPlan gemm_plan(const Microkernel *kernel, const GemmOperands *x);

/* The largest KC: how many numbers of k are multiplied in one pass at most. */
int64_t gemm_blocking_longest_pass(const Microkernel *kernel);
/* Needs the kernel and the sizes alone. */
size_t gemm_workspace(const GemmPlan *p, int threads);
void gemm_multiply(const GemmPlan *p, void *workspace, int threads);
