/* What the check() functions of several ops have in common: a message names the op, its scope and
 * the operand. */
#pragma once

#include "plan/plan.h"

/* The first n_out outputs and n_in inputs are there. */
Status op_check_present(const Plan *plan, const Node *node, int n_out, int n_in);
/* Every operand that is there has its rows one after the other. */
Status op_check_contiguous(const Plan *plan, const Node *node);
/* Both. */
Status op_check_dense(const Plan *plan, const Node *node, int n_out, int n_in);
Status op_check_elements(const Node *node, const char *name, const Tensor *tensor, int64_t want);
Status op_check_dtype(const Node *node, const char *name, const Tensor *tensor, DType want);
