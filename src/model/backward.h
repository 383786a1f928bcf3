#ifndef MODEL_BACKWARD_H
#define MODEL_BACKWARD_H

#include "model/model.h"

/* Walks the forward nodes from the loss, or the result of attention alone, back and appends each op's own gradient nodes. */
void backward_build(Builder *b, const Model *model);

#endif
