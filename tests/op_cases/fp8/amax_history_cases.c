#include "op_cases/op_cases.h"
#include "ops/fp8/amax_history.h"
#include "plan/step_state.h"

/* With and without a history, a state, and a norm of gradients that has been looked at. */
bool amax_history_cases(Builder *b, int i, DType act)
{
    static const int64_t tensors[] = {1, 7, 300};
    (void)act;
    if (i >= 12) return false;
    const int64_t n = tensors[i / 4];
    const int state =
        i & 1 ? builder_tensor(b, "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT)) : PLAN_NONE;
    const int amax = builder_tensor(b, "+amax", TK_STATE, DT_F32, DIMS(n));
    int history = PLAN_NONE, recent = PLAN_NONE;
    if (i & 2) {
        history = builder_tensor(b, "+history", TK_STATE, DT_F32, DIMS(n, AMAX_HISTORY_STEPS));
        recent = builder_tensor(b, "recent", TK_STATE, DT_F32, DIMS(n));
    }
    builder_node(b, OP_amax_history, IDS(state, amax, history, recent), IDS(state, amax, history))
        ->accumulate = i & 4;
    return true;
}
