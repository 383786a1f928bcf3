#include "op_cases.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

static const int64_t sizes[] = {1, 7, 101, 1024, 2503, 20000};
enum { N_PARTS = FN_UPDATE + 1, N_SIZES = sizeof sizes / sizeof *sizes };

/* Every part and size; then with a state of zeros, where the step is skipped. */
bool adamw_part_cases(Builder *b, int i, DType act)
{
    const int fn = i % N_PARTS, k = i / N_PARTS;
    if (k > N_SIZES) return false;
    const bool on_d = fn == FN_ROOT || fn == FN_BIAS || fn == FN_EPSILON;
    const bool skip = k == N_SIZES && !on_d;
    const int64_t n = sizes[k < N_SIZES ? k : 2];
    const DType wide = op_full_dtype(act);
    const int state =
        builder_tensor(b, skip ? "#1state" : "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    const int x = builder_tensor(b, "+x", TK_MOMENT, wide, DIMS(n));
    const int out = on_d ? builder_like(b, "d", x, wide) : x;
    if (fn == FN_UPDATE) {
        const int m = builder_tensor(b, "m", TK_MOMENT, wide, DIMS(n));
        const int d = builder_tensor(b, "+d", TK_MOMENT, wide, DIMS(n));
        builder_node(b, OP_adamw_part, IDS(out), IDS(x, m, d, state))->fn = fn;
    } else if (fn == FN_MOMENT1 || fn == FN_MOMENT2B) {
        const int g = builder_tensor(b, "g", TK_GRAD, act, DIMS(n));
        builder_node(b, OP_adamw_part, IDS(out), IDS(x, g, state))->fn = fn;
    } else {
        builder_node(b, OP_adamw_part, IDS(out), IDS(x, state))->fn = fn;
    }
    return true;
}
