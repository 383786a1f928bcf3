/* This build has no CUDA: the lists that plans need, without run(). */
#include "ops/gpu_support.h"

extern const OpImpl *const impls_cuda[OP_COUNT];

#define KERNEL(op, why, bytes)                 \
    static const OpImpl gpu_support_##op[] = { \
        {.name = #op "_cuda", .declines = why, .workspace = bytes}, {0}};
#define NO_KERNEL(op, why) \
    static const OpImpl gpu_support_##op[] = {{.name = #op "_cuda", .declines = why}, {0}};
#include "ops/gpu_kernels.def"

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) gpu_support_##name,
#include "plan/ops.def"
};
