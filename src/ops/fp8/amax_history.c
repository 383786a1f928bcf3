/* What the next step knows of the tensors that this one has quantized.
 *
 * amax_history  state, amax, history, recent | state, amax, history
 *
 * amax: [n], the largest size in each tensor, as quantize wrote it; it becomes 0, for the next step.
 * history: [n, 16], those of the last steps, the newest first; recent: [n], the largest of them. Both absent:
 * only `state` is written. An infinity or a NaN in `amax` sets STATE_NONFINITE, so that the step is skipped
 * (ops/adam_state.h), and does not enter the history. Where nothing else looks at gradients
 * (!attr.accumulate) it is cleared otherwise. */
#include "ops/fp8/amax_history.h"

#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/step_state.h"

static Status check(const Plan *plan, const Node *node)
{
    const Tensor *amax = plan_in(plan, node, AMAX_HISTORY_AMAX);
    const Tensor *history = plan_in(plan, node, AMAX_HISTORY_STEPS_BACK);
    const Tensor *recent = plan_out(plan, node, AMAX_HISTORY_RECENT);
    TRY(op_check_contiguous(plan, node));
    if (!amax || !recent != !history)
        return FAIL(ST_FAILED, "%s: a history without its largest numbers", node->scope);
    for (int i = 0; i <= AMAX_HISTORY_STEPS_BACK; i++) {
        if (plan_in_id(plan, node, i) != plan_out_id(plan, node, i))
            return FAIL(ST_FAILED, "%s: operand %d is not updated in place", node->scope, i);
    }
    if (!history) return ST_OK;
    TRY(op_check_elements(node, "recent", recent, plan_elements(amax)));
    return op_check_elements(node, "history", history, plan_elements(amax) * AMAX_HISTORY_STEPS);
}

static Status reference(const OpCall *call)
{
    double *state = op_out(call, AMAX_HISTORY_STATE);
    float *amax = op_out(call, AMAX_HISTORY_AMAX), *history = op_out(call, AMAX_HISTORY_STEPS_BACK);
    float *recent = op_out(call, AMAX_HISTORY_RECENT);
    const int64_t n = plan_elements(op_out_shape(call, AMAX_HISTORY_AMAX));
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        finite &= isfinite(amax[i]) != 0;
        if (history) recent[i] = amax_history_next(history + i * AMAX_HISTORY_STEPS, amax[i]);
        amax[i] = 0;
    }
    if (state && !(call->node->attr.accumulate && finite)) state[STATE_NONFINITE] = finite ? 0 : 1;
    return ST_OK;
}

const OpDef amax_history_def = {OP_SOURCE, .check = check, .reference = reference};
