#include "ops/cpu/impls_cpu.h"

const OpImpl *const impls_cpu[OP_COUNT] = {
#define OP(name, category) name##_cpu,
#include "plan/ops.def"
};
