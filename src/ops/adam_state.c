/* Decides this step: apply or skip it, unscale and clip by how much, Adam's bias corrections, and
 * the loss scale of the next step (doubled after 2000 good steps, halved by an overflow).
 *
 * adam_state  state | state        fields in plan/step_state.h */
#include "ops/adam_state.h"

#include "ops/element.h"
#include "plan/step_state.h"

#include <math.h>

static void skip(double *s)
{
    s[STATE_APPLY] = 0;
    s[STATE_SKIPPED] += 1;
    if (s[STATE_DYNAMIC] == 0) return;
    s[STATE_LOSS_SCALE] *= 0.5;
    s[STATE_GOOD_STEPS] = 0;
}

static void apply(double *s)
{
    const double t = s[STATE_STEP] += 1;
    s[STATE_APPLY] = 1;
    s[STATE_GRAD_FACTOR] = 1 / s[STATE_LOSS_SCALE];
    if (s[STATE_CLIP] > 0) {
        const double norm = sqrt(s[STATE_SQUARED_NORM]) / s[STATE_LOSS_SCALE];
        const double factor = s[STATE_CLIP] / (norm + 1e-6); /* as PyTorch's clip_grad_norm_ */
        if (factor < 1) s[STATE_GRAD_FACTOR] *= factor;
    }
    s[STATE_STEP_SIZE] = s[STATE_LR] / (1 - pow(STEP_STATE_BETA1, t));
    s[STATE_ROOT_BIAS] = sqrt(1 - pow(STEP_STATE_BETA2, t));
    if (s[STATE_DYNAMIC] == 0) return;
    s[STATE_GOOD_STEPS] += 1;
    if (s[STATE_GOOD_STEPS] < STEP_STATE_GROWTH_STEPS) return;
    s[STATE_LOSS_SCALE] *= 2;
    s[STATE_GOOD_STEPS] = 0;
}

void adam_state_next(double *state)
{
    if (state[STATE_GUARD] != 0 && state[STATE_NONFINITE] != 0) {
        skip(state);
    } else {
        apply(state);
    }
}

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

const OpDef adam_state_def = {.source = __FILE__, .reference = reference, .cases = cases};
