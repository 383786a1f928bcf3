#include "ops/cuda/impls_cuda.h"

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) name##_cuda,
#include "plan/ops.def"
#undef OP
};
