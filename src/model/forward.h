#ifndef MODEL_FORWARD_H
#define MODEL_FORWARD_H

#include "model/model.h"

/* Appends inputs, parameters, setup, the forward pass and the loss; fills the model's tensor ids. */
void forward_build(Builder *b, Model *model);

#endif
