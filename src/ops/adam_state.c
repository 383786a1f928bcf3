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

const OpDef adam_state_def = {OP_SOURCE, .reference = reference};
