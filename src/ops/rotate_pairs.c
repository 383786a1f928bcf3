/* Turns every pair by a quarter, as rotary embedding needs it (ops/rope.c):
 *
 *     y[2i] = -x[2i+1]            y[2i+1] = x[2i]
 *
 * rotate_pairs  y | x        attr.inverse turns the other way, which is also the gradient */
#include "ops/element.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    const Tensor *x = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "y", plan_out(plan, node, 0), plan_elements(x)));
    if (plan_width(x) % 2 == 0) return ST_OK;
    return FAIL(ST_FAILED, "rotate_pairs (%s): %lld columns are no pairs", node->scope,
                (long long)plan_width(x));
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    op_rule_grad_input(b, node, OP_rotate_pairs, (NodeAttr){.inverse = !node->attr.inverse},
                       IDS(dy));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const double sign = call->node->attr.inverse ? 1 : -1;
    for (int64_t i = 0; i < x.rows; i++) {
        for (int64_t j = 0; j < x.cols; j += 2) {
            const double x0 = at(x, i, j), x1 = at(x, i, j + 1);
            put(y, i, j, sign * x1);
            put(y, i, j + 1, -sign * x0);
        }
    }
    return ST_OK;
}

const OpDef rotate_pairs_def = {
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .grad = grad,      .reference = reference,
};
