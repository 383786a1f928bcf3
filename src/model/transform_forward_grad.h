/* A forward pass with gradients enabled: the backward pass is cut off, and what it would have read stays in memory
 * until the end of the step. No memory is planned for gradients. */
#ifndef MODEL_TRANSFORM_FORWARD_GRAD_H
#define MODEL_TRANSFORM_FORWARD_GRAD_H

#include "model/model.h"

/* The plan ends with its backward pass, recomputation included. */
void transform_forward_grad(Builder *b, Model *model);

#endif
