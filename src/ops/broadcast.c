/* A small tensor repeated over a large one and scaled, y = attr.scale * x: the gradient of a sum.
 *
 * broadcast  y | x        x has one element per row of y, or repeats over it (ops/broadcasting.h); a single
 *                      element, the loss scale in float64 for one, goes everywhere */
#include "ops/broadcasting.h"
#include "ops/element.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    if (broadcasting_of(y, x) != BROADCAST_MISFIT) return ST_OK;
    return FAIL(ST_FAILED, "broadcast (%s): %lld elements do not repeat over %lld", node->scope,
                (long long)plan_elements(x), (long long)plan_elements(y));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Broadcasting how = broadcasting_of(op_out_shape(call, 0), op_in_shape(call, 0));
    const int64_t n = y.rows * y.cols, period = x.rows * x.cols;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = broadcasting_index(how, i, y.cols, period);
        element_set(y.data, y.dtype, i,
                    call->node->attr.scale * element_get(x.data, x.dtype, from));
    }
    return ST_OK;
}

const OpDef broadcast_def = {OP_SOURCE, .check = check, .flops_out = 1, .reference = reference};
