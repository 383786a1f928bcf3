/* One element of every row, chosen by an index:
 *
 * gather     y | x, ids         y[r] = x[r, ids[r]]
 * gather_grad  dx | dy, ids       dx[r, ids[r]] = dy[r], all others 0 */
#include "ops/element.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 2));
    const Tensor *out = plan_out(plan, node, 0), *in = plan_in(plan, node, 0);
    const Tensor *ids = plan_in(plan, node, 1);
    const bool gradient = node->op == OP_gather_grad;
    const int64_t rows = plan_rows(gradient ? out : in); /* of x */
    TRY(op_check_dtype(node, "ids", ids, DT_I32));
    TRY(op_check_elements(node, "ids", ids, rows));
    return op_check_elements(node, "y", gradient ? in : out, rows);
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int ids = plan_in_id(b->plan, node, 1);
    op_rule_grad_input(b, node, OP_gather_grad, (NodeAttr){0}, IDS(dy, ids));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    for (int64_t i = 0; i < x.rows; i++) element_set(y.data, y.dtype, i, at(x, i, ids[i]));
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), dy = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    for (int64_t i = 0; i < dx.rows; i++) {
        for (int64_t j = 0; j < dx.cols; j++) {
            put(dx, i, j, j == ids[i] ? element_get(dy.data, dy.dtype, i) : 0);
        }
    }
    return ST_OK;
}

const OpDef gather_def = {
    OP_SOURCE, .check = check, .cost = op_rule_cost_gathered, .grad = grad, .reference = reference,
};

const OpDef gather_grad_def = {OP_SOURCE, .check = check, .reference = reference_grad};
