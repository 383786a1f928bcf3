/* Attention without the model around it: q, k and v are given, and so is the gradient of the result. */
#ifndef MODEL_ATTENTION_ALONE_H
#define MODEL_ATTENTION_ALONE_H

#include "model/model.h"

/* Appends the inputs and the forward pass; fills model->alone. */
void attention_alone_forward(Builder *b, Model *model);

#endif
