/* The feed-forward of a block whose tokens each go through some of its experts (ops/experts/experts.h). */
#pragma once

#include "model/model_params.h"

/* The choice that --routing gives, of N tokens. */
void expert_layers_inputs(Builder *b, Model *m, int64_t N);
/* y [N, C], the norm of the stream, to what the block adds to it. */
int expert_layers_build(Builder *b, Model *m, const BlockParams *p, int layer, int y);
