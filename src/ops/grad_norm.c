/* The squared norm of all gradients, and whether one of them is infinite or NaN.
 *
 * grad_norm  state | g0, g1, ..., state
 *
 * Writes STATE_SQUARED_NORM (loss scale included) and STATE_NONFINITE; the rest of the state stays.
 * Squares of fp16, bf16 and fp32 numbers cannot overflow a double, so the sum is finite exactly
 * when every gradient is. */
#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>

static Status reference(const OpCall *call)
{
    const int groups = call->node->n_in - 1;
    double sum = 0;
    for (int g = 0; g < groups; g++) {
        const Operand x = element_in(call, g);
        for (int64_t i = 0; i < x.rows * x.cols; i++) {
            const double v = element_get(x.data, x.dtype, i);
            sum += v * v;
        }
    }
    double *state = op_out(call, 0);
    state[STATE_SQUARED_NORM] = sum;
    state[STATE_NONFINITE] = isfinite(sum) ? 0 : 1;
    return ST_OK;
}

static OpCost cost(const Plan *plan, const Node *node)
{
    OpCost cost = {0};
    for (int g = 0; g < node->n_in - 1; g++) {
        cost.flops += 2.0 * (double)plan_elements(plan_in(plan, node, g));
        cost.bytes += (double)plan_bytes(plan_in(plan, node, g));
    }
    return cost;
}

const OpDef grad_norm_def = {OP_SOURCE, .cost = cost, .reference = reference};
