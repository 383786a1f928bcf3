/* The CUDA implementations of every op: NAME_cuda[], best first, ended by {0}. */
#ifndef OPS_IMPLS_CUDA_H
#define OPS_IMPLS_CUDA_H

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name, category) extern const OpImpl name##_cuda[];
#include "plan/ops.def"
#undef OP

extern const OpImpl *const impls_cuda[OP_COUNT];

/* Why a float kernel cannot take a node: a float64 operand other than the step state. NULL if it can. */
const char *impls_cuda_declines_f64(const Plan *plan, const Node *node);

#ifdef __cplusplus
}
#endif
#endif
