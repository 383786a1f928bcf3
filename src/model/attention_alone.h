/* Attention without the model around it: q, k and v are given, and so is the gradient of the result. */
#pragma once

#include "model/model.h"
#include "plan/mem_plan.h"

/* Appends the inputs and the forward pass; fills model->alone. */
void attention_alone_forward(Builder *b, Model *model);

/* Bytes of q, k, v, the result and what is saved for backward; not of mode fwd. */
size_t attention_alone_before_backward(const Model *model, const MemPlan *mem);
