/* Parameters in groups of contiguous memory: one for what stays fp32 in a layer (norms), one for the
 * weights of its products, so that the optimizer runs over flat memory and q, k and v (or w1 and w3)
 * can be multiplied as one matrix. Under `eager` every parameter is a group of its own. */
#pragma once

#include "model/model.h"

/* The parameters added next lie together. `product`: their 16-bit copies feed matrix multiplications. */
void params_group(Builder *b, Model *model, const char *name, int64_t elements, bool product);

/* Adds one parameter to the newest group and returns the tensor that the forward pass reads (the
 * 16-bit copy where there is one). n_dims is 1 (norms: cols) or 2 (rows x cols). */
int params_add(Builder *b, Model *model, const char *name, int64_t rows, int64_t cols,
               ParamInit init, double std);
