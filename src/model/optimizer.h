#ifndef MODEL_OPTIMIZER_H
#define MODEL_OPTIMIZER_H

#include "model/model.h"

/* Appends unscaling, clipping and AdamW over all groups of parameters. */
void optimizer_build(Builder *b, const Model *model);

/* True when a step can be skipped or clipped, so that all gradients are looked at first. */
bool optimizer_needs_norm(const Config *config);

#endif
