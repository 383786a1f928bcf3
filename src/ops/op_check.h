/* What the check() functions of several ops have in common: a message names the op, its scope and
 * the operand. */
#pragma once

#include "plan/plan.h"

/* The first n_out outputs and n_in inputs are there. */
Status op_check_present(const Plan *plan, const Node *node, int n_out, int n_in);
/* Every operand that is there has its rows one after the other. */
Status op_check_contiguous(const Plan *plan, const Node *node);
/* This one has; NULL has, too. */
Status op_check_whole(const Node *node, const Tensor *tensor);
/* Both: those that must be there are, and all have their rows one after the other. */
Status op_check_dense(const Plan *plan, const Node *node, int n_out, int n_in);
Status op_check_elements(const Node *node, const char *name, const Tensor *tensor, int64_t want);
/* A tensor of attention of two dimensions holds whole heads: H of them, or a number that divides H where
 * attr.head_dim says how wide they are (ops/head_matrix.h). */
Status op_check_heads(const Node *node, const Tensor *tensor);
/* A sliding window is one of causal attention. */
Status op_check_window(const Node *node);
Status op_check_dtype(const Node *node, const char *name, const Tensor *tensor, DType want);
