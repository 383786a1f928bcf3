#include "op_cases.h"
#include "plan/step_state.h"

static const int64_t sizes[] = {1, 3, 7, 101, 1024, 4099, 20000};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* The first micro-batch, which writes (a state of zeros); a later one, which adds; windows that are not
 * aligned; a scale, as the loss has one. */
bool accumulate_cases(Builder *b, int i, DType act)
{
    const int k = i % N_SIZES, form = i / N_SIZES;
    if (form > 2) return false;
    const bool first = form == 0, window = form == 2;
    const int64_t n = sizes[k], before = window ? 3 : 0;
    const DType wide = op_full_dtype(act);
    const int state =
        builder_tensor(b, first ? "#1state" : "+state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    int x = builder_tensor(b, "x", TK_GRAD, k % 2 ? wide : act, DIMS(n + before));
    int y = builder_tensor(b, "y", TK_GRAD_SUM, wide, DIMS(n + before));
    if (window) {
        x = builder_view(b, "window of x", x, before, DIMS(n), n);
        y = builder_view(b, "window of y", y, before, DIMS(n), n);
    }
    builder_node(b, OP_accumulate, IDS(y), IDS(x, y, state))->scale = k == 2 ? 1.0 / 3 : 1;
    return true;
}
