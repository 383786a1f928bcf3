/* Activation checkpointing: what a block's backward pass reads is not kept from the forward pass but
 * recomputed, from the residual stream that the block began with, just before it is needed.
 *
 * Only what backward really reads is recomputed (the last product of a block is not), in the same
 * way and so to the same bits. The blocks that backward begins with are left alone: what they made is
 * used at once, and nothing would be gained. */
#pragma once

#include "model/model.h"

/* Follows backward_build() and comes before optimizer_build(). */
void transform_recompute(Builder *b, const Model *model);

/* Blocks that are recomputed with this setting; 0: none. */
int64_t transform_recompute_blocks(const Config *config);
