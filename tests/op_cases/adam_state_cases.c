#include "op_cases.h"
#include "plan/step_state.h"

bool adam_state_cases(Builder *b, int i, DType act)
{
    (void)act;
    if (i >= 2) return false;
    const int state = builder_tensor(b, "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    builder_node(b, OP_adam_state, IDS(state), IDS(state));
    return true;
}
