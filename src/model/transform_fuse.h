/* What `eager` runs one by one as one node: matmuls of one input by weights that lie side by side (q, k and v; w1 and
 * w3), the RoPE of q and k, and the gate that reads both halves. Outputs become windows into one tensor. */
#ifndef MODEL_TRANSFORM_FUSE_H
#define MODEL_TRANSFORM_FUSE_H

#include "plan/builder.h"

/* Follows the forward pass and comes before everything else. */
void transform_fuse(Builder *b);

#endif
