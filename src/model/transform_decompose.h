#ifndef MODEL_TRANSFORM_DECOMPOSE_H
#define MODEL_TRANSFORM_DECOMPOSE_H

#include "model/model.h"

/* Replaces fused nodes by the primitives an eager framework would launch: all of them under `eager`,
 * the softmax alone where attention is `naive`. Tensors keep their numbers. */
void transform_decompose(Builder *b, Model *model);

/* Appends `node` (its operands are in the plan already): as it is, or as primitives under `eager`. */
void transform_decompose_node(Builder *b, const Model *model, const Node *node);

#endif
