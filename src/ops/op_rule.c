#include "ops/op.h"

OpCost op_rule_cost_gathered(const Plan *plan, const Node *node)
{
    const Tensor *out = plan_out(plan, node, 0), *ids = plan_in(plan, node, 1);
    const double read =
        (double)plan_elements(out) * (double)plan_dtype_size(plan_in(plan, node, 0)->dtype);
    return (OpCost){.bytes = read + (double)plan_bytes(out) + (double)plan_bytes(ids)};
}

void op_rule_grad_input(Builder *b, const Node *node, OpKind op, NodeAttr attr, const int *in,
                        int n_in)
{
    const int x = plan_in_id(b->plan, node, 0);
    if (!builder_wants_grad(b, x)) return;
    const int dx = builder_grad_target(b, x);
    *builder_node(b, op, IDS(dx), in, n_in) = attr;
    builder_grad_add(b, x, dx);
}
