/* How evenly tokens of this rank went to experts in the last forward pass, layer by layer. */
#pragma once

#include "bench/record/record.h"
#include "exec/session.h"
#include "model/model.h"

/* expert_load_least, _median and _most: rows of an expert by those it would have evenly, of all experts of
 * all layers; expert_load_entropy: of the shares, by the logarithm of the experts, 1 where all have as many,
 * a mean of the layers; expert_rows: a list for each layer with experts. Nothing where there are none. */
Status expert_load_put(Record *r, Session *s, const Model *model);
