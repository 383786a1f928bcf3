/* Gradient accumulation: a sum over the micro-batches of a step, y = sum of attr.scale * x.
 *
 * accumulate  y | x, y, state        the first micro-batch (STATE_MICRO_BATCH 0) writes, the others add
 *
 * x is fp32 or 16 bit; y is fp32, so that many small gradients add up. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/step_state.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 3));
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "y", y, plan_elements(x)));
    TRY(op_check_dtype(node, "y", y, op_full_dtype(y->dtype)));
    if (plan_in_id(plan, node, 1) != plan_out_id(plan, node, 0))
        return FAIL(ST_FAILED, "accumulate (%s): the sum is not where it was", node->scope);
    return op_check_elements(node, "state", plan_in(plan, node, 2), STATE_COUNT);
}

/* Of one micro-batch on average: the first reads no sum and adds nothing. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    const double n = (double)plan_phase_runs(plan, PHASE_FORWARD), adding = (n - 1) / n;
    return (OpCost){.flops = adding * (double)plan_elements(y),
                    .bytes = (double)plan_bytes(x) + (1 + adding) * (double)plan_bytes(y)};
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const double *state = op_in(call, 2), scale = call->node->attr.scale;
    const bool first = state[STATE_MICRO_BATCH] == 0;
    for (int64_t i = 0; i < x.rows * x.cols; i++) {
        const double before = first ? 0 : element_get(y.data, y.dtype, i);
        element_set(y.data, y.dtype, i, before + scale * element_get(x.data, x.dtype, i));
    }
    return ST_OK;
}

const OpDef accumulate_def = {OP_SOURCE, .check = check, .out_role = {DTYPE_ACCUMULATION},
                              .cost = cost, .reference = reference};
