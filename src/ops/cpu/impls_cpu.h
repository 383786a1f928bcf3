/* The CPU implementations of every op: NAME_cpu[], best first, ended by {0}. */
#pragma once

#include "ops/op.h"

#define OP(name, category) extern const OpImpl name##_cpu[];
#include "plan/ops.def"

extern const OpImpl *const impls_cpu[OP_COUNT];
