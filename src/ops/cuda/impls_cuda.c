#include "ops/cuda/impls_cuda.h"

#define KERNEL(op, why, bytes)          \
    static const OpImpl op##_cuda[] = { \
        {.name = #op "_cuda", .declines = why, .workspace = bytes, .run = op##_cuda_run}, {0}};
#define NO_KERNEL(op, why) \
    static const OpImpl op##_cuda[] = {{.name = #op "_cuda", .declines = why}, {0}};
#include "ops/gpu_kernels.def"

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) name##_cuda,
#include "plan/ops.def"
};
