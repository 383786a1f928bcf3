#include "ops/cuda/impls_cuda.h"

#define KERNEL(op, why, bytes)          \
    static const OpImpl op##_cuda[] = { \
        {.name = #op "_cuda", .declines = why, .workspace = bytes, .run = op##_cuda_run}, {0}};
#include "ops/gpu_kernels.def"

#define all_reduce_cuda     gpu_support_all_reduce
#define reduce_scatter_cuda gpu_support_reduce_scatter
#define all_gather_cuda     gpu_support_all_gather

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) name##_cuda,
#include "plan/ops.def"
};
