/* When the gradients of a plan are whole, for transforms that put nodes after them. */
#pragma once

#include "model/model.h"

/* The last of the n nodes that writes the gradient of each group; PLAN_NONE: none does. The caller frees
 * it; NULL: no memory. */
int *gradient_order_last_writers(const Model *model, const Plan *plan, const Node *nodes, int n);

/* The part of the block at hand (its attention, say) is done after node i: a node that came earlier would
 * cut the part's range in a profile in two. */
bool gradient_order_ends_part(const Node *nodes, int n, int i);
