/* A linear layer of the forward pass. */
#pragma once

#include "model/model_params.h"

/* A parameter as matmuls read it: one without a 16-bit copy is cast first, in every step. */
int linear_weight(Builder *b, const Model *m, int param);
/* y = x w^T + bias. */
int linear_build(Builder *b, const Model *m, const char *name, int x, Linear layer);
