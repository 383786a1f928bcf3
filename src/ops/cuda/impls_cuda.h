/* The CUDA implementations of every op: NAME_cuda[], best first, ended by {0}. What they take and ask for is in
 * gpu_plan_NAME[]. */
#ifndef OPS_CUDA_IMPLS_CUDA_H
#define OPS_CUDA_IMPLS_CUDA_H

#include "ops/gpu_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name, category) extern const OpImpl name##_cuda[];
#include "plan/ops.def"
#undef OP

extern const OpImpl *const impls_cuda[OP_COUNT];

#ifdef __cplusplus
}
#endif
#endif
