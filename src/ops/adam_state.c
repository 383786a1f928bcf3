/* Decides this step: apply or skip it, unscale and clip by how much, Adam's bias corrections, and
 * the loss scale of the next step (doubled after 2000 good steps, halved by an overflow).
 *
 * adam_state  state | state        fields in plan/step_state.h */
#include "ops/adam_state.h"

#include "ops/element.h"

static Status reference(const OpCall *call)
{
    adam_state_next(op_out(call, 0));
    return ST_OK;
}

static bool cases(Builder *b, int i, DType act)
{
    (void)act;
    if (i >= 2) return false;
    const int state = builder_tensor(b, "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    builder_node(b, OP_adam_state, IDS(state), IDS(state));
    return true;
}

const OpDef adam_state_def = {OP_SOURCE, .reference = reference, .cases = cases};
