/* Forbids a token to look ahead: in every matrix [T, T] of scores, the entries above the diagonal
 * become -infinity, or 0 with attr.inverse, which is also the gradient of both. So do, with a sliding
 * window of attr.window keys, those further back.
 *
 * causal_mask  y | x        x [.., T, T] */
#include "ops/element.h"
#include "ops/op_check.h"
#include "ops/visible_keys.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    const Tensor *x = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "y", plan_out(plan, node, 0), plan_elements(x)));
    if (plan_rows(x) % plan_width(x) == 0) return ST_OK;
    return FAIL(ST_FAILED, "causal_mask (%s): %lld rows of %lld columns are no square matrices",
                node->scope, (long long)plan_rows(x), (long long)plan_width(x));
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    op_rule_grad_input(b, node, OP_causal_mask,
                       (NodeAttr){.inverse = true, .window = node->attr.window}, IDS(dy));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const double hidden = call->node->attr.inverse ? 0 : -INFINITY;
    for (int64_t i = 0; i < x.rows; i++) {
        const int64_t row = i % x.cols, first = visible_keys_first(&call->node->attr, row);
        for (int64_t j = 0; j < x.cols; j++)
            put(y, i, j, j > row || j < first ? hidden : at(x, i, j));
    }
    return ST_OK;
}

const OpDef causal_mask_def = {
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .grad = grad,      .reference = reference,
};
