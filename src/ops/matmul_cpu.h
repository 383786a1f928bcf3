/* Who computes a product on a CPU. */
#ifndef OPS_MATMUL_CPU_H
#define OPS_MATMUL_CPU_H

#include "base/text.h"
#include "ops/op.h"

/* Adds "BLIS 0.9.0", or "own" and the name of the microkernel, of a matmul bound to `impl`. */
void matmul_by(const Plan *plan, const Node *node, const OpImpl *impl, Text *out);

#endif
