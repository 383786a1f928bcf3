/* The CPU implementations of every op: NAME_cpu[], best first, ended by {0}. */
#ifndef OPS_CPU_IMPLS_CPU_H
#define OPS_CPU_IMPLS_CPU_H

#include "ops/op.h"

#define OP(name, category) extern const OpImpl name##_cpu[];
#include "plan/ops.def"
#undef OP

extern const OpImpl *const impls_cpu[OP_COUNT];

#endif
