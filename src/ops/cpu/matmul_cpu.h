/* Matrix multiplications on a CPU: which kernel or library computes a node, and how it is called. */
#pragma once

#include "base/text.h"
#include "ops/gemm_cpu/gemm_cpu.h"

/* The microkernel of our GEMM for the node's first two inputs: that of their dtype where both have
 * the same and the CPU multiplies it, else that of fp32. */
const Microkernel *matmul_kernel(const Plan *plan, const Node *node);
/* The microkernel of `flash`, which multiplies with panels_cpu.h: that of bf16 where all heads that
 * the node reads are bf16 and the CPU multiplies it, else that of fp32. */
const Microkernel *matmul_flash_kernel(const Plan *plan, const Node *node);
/* Why `auto` leaves a node to the BLAS library; NULL: it takes our GEMM. */
const char *matmul_own_declines(const Plan *plan, const Node *node);

/* A GEMM by the BLAS library: 16-bit operands are widened into the workspace. */
size_t matmul_blas_workspace(const GemmOperands *x);
void matmul_blas(const GemmOperands *x, void *workspace, int threads);
/* Copies a matrix into one of another dtype, one of the two fp32; nothing where both are the same memory. */
void matmul_convert(Operand to, Operand from, int threads);

/* Appends "BLIS 0.9.0", or "own" and the name of the microkernel: of a matmul, a bmm or an
 * attention bound to `impl`. */
void matmul_by(const Plan *plan, const Node *node, const OpImpl *impl, Text *out);
