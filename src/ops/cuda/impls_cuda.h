/* The CUDA implementations of every op: NAME_cuda[], best first, ended by {0}. */
#pragma once

#include "ops/gpu_support.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERNEL(op, declines, workspace) Status op##_cuda_run(const OpCall *call);
#include "ops/gpu_kernels.def"

extern const OpImpl matmul_cuda[], scaled_matmul_cuda[], bmm_cuda[];
extern const OpImpl attention_cuda[], attention_grad_cuda[];

extern const OpImpl *const impls_cuda[OP_COUNT];

#ifdef __cplusplus
}
#endif
