#include "op_cases.h"
#include "plan/step_state.h"

/* One to three groups of odd sizes, with and without 16-bit copies, whole and (in bf16) in halves.
 * The state is drawn at random in [0.5, 1.5]: every factor matters and the step is applied. */
bool adamw_cases(Builder *b, int i, DType act)
{
    static const int64_t sizes[][3] = {{1, 0, 0}, {3, 257, 0}, {1000, 31, 4099}, {70001, 0, 0}};
    if (i >= (act == DT_BF16 ? 8 : 4)) return false;
    const DType wide = op_full_dtype(act);
    int out[12], in[4], n = 0;
    for (; n < 3 && sizes[i % 4][n]; n++) {
        const int64_t size = sizes[i % 4][n];
        const bool split = i >= 4 && n != 1;
        out[4 * n] = builder_tensor(b, "p", TK_PARAM, split ? DT_LOW16 : wide, DIMS(size));
        out[4 * n + 1] = builder_tensor(b, "m", TK_MOMENT, wide, DIMS(size));
        out[4 * n + 2] = builder_tensor(b, "+v", TK_MOMENT, wide, DIMS(size));
        out[4 * n + 3] =
            act == wide ? PLAN_NONE : builder_tensor(b, "copy", TK_WEIGHT_COPY, act, DIMS(size));
        if (split && b->status == ST_OK) b->plan->tensors[out[4 * n]].upper = out[4 * n + 3];
        in[n] = builder_tensor(b, "g", TK_ACTIVATION, n == 1 ? wide : act, DIMS(size));
    }
    in[n] = builder_tensor(b, "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    builder_node(b, OP_adamw, out, 4 * n, in, n + 1);
    return true;
}
