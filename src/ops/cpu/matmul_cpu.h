/* Who computes a product on a CPU. */
#ifndef OPS_CPU_MATMUL_CPU_H
#define OPS_CPU_MATMUL_CPU_H

#include "base/text.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "ops/op.h"

/* Of our own product of the node's first two inputs: with panels of their dtype where they have the same and the
 * processor multiplies it, else of fp32. */
const Microkernel *matmul_kernel(const Plan *plan, const Node *node);
/* Of `flash`, which multiplies with panels_cpu.h: with bf16 where all that the node reads of heads is, and the processor
 * multiplies it, else with fp32. */
const Microkernel *matmul_flash_kernel(const Plan *plan, const Node *node);
/* Why `auto` leaves a node to the BLAS library; NULL: it takes our GEMM. */
const char *matmul_own_declines(const Plan *plan, const Node *node);

/* Adds "BLIS 0.9.0", or "own" and the name of the microkernel: of a matmul, a bmm or an attention bound to `impl`. */
void matmul_by(const Plan *plan, const Node *node, const OpImpl *impl, Text *out);

#endif
