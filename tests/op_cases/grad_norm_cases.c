#include "op_cases.h"
#include "plan/step_state.h"

bool grad_norm_cases(Builder *b, int i, DType act)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {7, 1023, 5}, {16385, 2, 40000}};
    if (i >= 3) return false;
    int in[4];
    for (int g = 0; g < 3; g++) {
        in[g] = builder_tensor(b, "g", TK_ACTIVATION, g == 1 ? op_full_dtype(act) : act,
                               DIMS(sizes[i][g]));
    }
    in[3] = builder_tensor(b, "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    builder_node(b, OP_grad_norm, IDS(in[3]), in, 4);
    return true;
}
