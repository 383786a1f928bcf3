/* The test cases of every op, for test_ops.c and test_op_gradients.c. op_cases/NAME_cases.c has
 * those of OP_NAME and of its gradient, OP_NAME_grad. */
#pragma once

#include "ops/op.h"

/* Appends test case `i` (one node of the op and its operands; a gradient's may follow its forward
 * node) and returns true; false when there is no case i. `act` is the dtype of what runs in 16 bit
 * under mixed precision; what stays fp32 there is op_full_dtype(act). Inputs named "+..." are filled
 * with positive numbers, "#N..." with integers in [0, N), "~N..." with numbers in [-N, N], all others
 * in [-1, 1]. */
typedef bool OpCases(Builder *b, int i, DType act);

#define OP(name, category) OpCases name##_cases;
#include "plan/ops.def"

extern OpCases *const op_cases[OP_COUNT];

/* Set: also cases for the kernels of a GPU that take a CPU long and tell it nothing. */
extern bool op_cases_gpu;

/* An input of integers in [0, below). */
int op_cases_indices(Builder *b, const char *name, int64_t below, int n_dims, const int64_t *dim);
