/* How many rows the mean of a cross-entropy is over: those of a chunk of the logits are fewer. */
#pragma once

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int64_t cross_entropy_mean_rows(const OpCall *call, const Tensor *logits)
{
    return call->node->attr.tokens ? call->node->attr.tokens : plan_rows(logits);
}

#ifdef __cplusplus
}
#endif
