/* One element of every row, chosen by an index:
 *
 * gather     y | x, ids         y[r] = x[r, ids[r]]
 * gather_grad  dx | dy, ids       dx[r, ids[r]] = dy[r], all others 0 */
#include "ops/element.h"
#include "ops/op_check.h"

static Status check_rows(const Plan *plan, const Node *node, const Tensor *x, const Tensor *y)
{
    TRY(op_check_contiguous(plan, node));
    const Tensor *ids = plan_in(plan, node, 1);
    TRY(op_check_dtype(node, "ids", ids, DT_I32));
    TRY(op_check_elements(node, "ids", ids, plan_rows(x)));
    return op_check_elements(node, "y", y, plan_rows(x));
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    return check_rows(plan, node, plan_in(plan, node, 0), plan_out(plan, node, 0));
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 2));
    return check_rows(plan, node, plan_out(plan, node, 0), plan_in(plan, node, 0));
}

/* Only the elements that are asked for are read. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0), *y = plan_out(plan, node, 0);
    const double read = (double)plan_rows(x) * (double)plan_dtype_size(x->dtype);
    return (OpCost){.bytes =
                        read + (double)plan_bytes(y) + (double)plan_bytes(plan_in(plan, node, 1))};
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0);
    const int x = plan_in_id(b->plan, node, 0), ids = plan_in_id(b->plan, node, 1);
    if (!builder_wants_grad(b, x)) return;
    const int dx = builder_grad_target(b, x);
    builder_node(b, OP_gather_grad, IDS(dx), IDS(builder_grad(b, y), ids));
    builder_grad_add(b, x, dx);
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
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};

const OpDef gather_grad_def = {OP_SOURCE, .check = check_grad, .reference = reference_grad};
