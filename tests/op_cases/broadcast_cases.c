#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 1}, {3, 2}, {5, 33}, {7, 101}, {2, 2500}, {130, 31}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* From one element per row, from a row, from a single float64. */
bool broadcast_cases(Builder *b, int i, DType act)
{
    if (i >= 3 * N_SHAPES) return false;
    const int64_t R = shapes[i / 3][0], W = shapes[i / 3][1];
    const DType wide = op_full_dtype(act);
    const int y = builder_tensor(b, "y", TK_ACTIVATION, i % 2 ? act : wide, DIMS(R, W));
    int x = PLAN_NONE;
    if (i % 3 == 0) {
        x = builder_tensor(b, "x", TK_ACTIVATION, wide, DIMS(R, 1));
    } else if (i % 3 == 1) {
        x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(W));
    } else {
        x = builder_tensor(b, "x", TK_ACTIVATION, DT_F64, DIMS(1));
    }
    builder_node(b, OP_broadcast, IDS(y), IDS(x))->scale = 0.75;
    return true;
}
