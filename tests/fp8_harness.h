/* Small models whose linear layers fp8 takes, and where its 8-bit tensors come from. */
#pragma once

#include "step_harness.h"

static inline Config fp8_config(Fp8Recipe recipe)
{
    Config c = small_config();
    c.model.d_model = 144; /* more than a block of 128 */
    c.model.d_ff = 272;
    c.ctx = 16;
    c.batch = 9;
    c.model.num_layers = 1;
    c.precision = PRECISION_FP8;
    c.fp8_recipe = recipe;
    return c;
}

/* Which tensor an 8-bit one was made of, and is it transposed? */
typedef struct Fp8Source {
    int tensor;
    bool transposed;
} Fp8Source;

static inline Fp8Source fp8_source(const Plan *plan, int q)
{
    Fp8Source found = {PLAN_NONE, false};
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->op != OP_quantize) continue;
        for (int side = 0; side < 2; side++) {
            if (plan_out_id(plan, node, 2 * side) != q) continue;
            assert_int_equal(found.tensor, PLAN_NONE); /* it is made once */
            found = (Fp8Source){plan_in_id(plan, node, 0), side == 1};
        }
    }
    assert_int_not_equal(found.tensor, PLAN_NONE);
    return found;
}
