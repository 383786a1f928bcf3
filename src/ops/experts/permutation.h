/* What permute and unpermute have in common. */
#pragma once

#include "ops/op_check.h"

/* `tokens` is [N, C], `rows` [N K, C], and `place` [N, K]. */
static inline Status permutation_check(const Node *node, const Tensor *tokens, const Tensor *rows,
                                       const Tensor *place)
{
    TRY(op_check_dtype(node, "place", place, DT_I32));
    TRY(op_check_elements(node, "rows", rows, plan_elements(place) * plan_width(tokens)));
    return op_check_elements(node, "tokens", tokens, plan_rows(place) * plan_width(rows));
}
