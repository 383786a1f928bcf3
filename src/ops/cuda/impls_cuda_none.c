/* This build has no CUDA: what there would be, for plans. */
#include "ops/gpu_plan.h"

extern const OpImpl *const impls_cuda[OP_COUNT];

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) gpu_plan_##name,
#include "plan/ops.def"
#undef OP
};
