/* The same numbers in another dtype, rounded to nearest even; with equal dtypes a copy.
 *
 * cast  y | x        both may be windows with gaps between their rows */
#include "ops/elementwise.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "y", y, plan_elements(x)));
    if (plan_width(y) == plan_width(x)) return ST_OK;
    return op_check_contiguous(plan, node);
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    op_rule_grad_input(b, node, OP_cast, (NodeAttr){0}, IDS(dy));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int64_t n = x.rows * x.cols;
    for (int64_t i = 0; i < n; i++) elementwise_put(y, i, elementwise_get(x, i));
    return ST_OK;
}

const OpDef cast_def = {OP_SOURCE, .check = check, .grad = grad, .reference = reference};
