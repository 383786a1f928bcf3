#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 1}, {3, 2}, {5, 33}, {7, 101}, {2, 2500}, {130, 31}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

bool gather_cases(Builder *b, int i, DType act)
{
    if (i >= N_SHAPES) return false;
    const int64_t R = shapes[i][0], W = shapes[i][1];
    const int x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(R, W));
    const int ids = op_cases_indices(b, "ids", W, DIMS(R));
    const int y =
        builder_tensor(b, "y", TK_ACTIVATION, i % 2 ? act : op_full_dtype(act), DIMS(R, 1));
    builder_node(b, OP_gather, IDS(y), IDS(x, ids));
    return true;
}

bool gather_grad_cases(Builder *b, int i, DType act)
{
    if (i >= N_SHAPES) return false;
    const int64_t R = shapes[i][0], W = shapes[i][1];
    const int dy =
        builder_tensor(b, "dy", TK_ACTIVATION, i % 2 ? act : op_full_dtype(act), DIMS(R, 1));
    const int ids = op_cases_indices(b, "ids", W, DIMS(R));
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, act, DIMS(R, W));
    builder_node(b, OP_gather_grad, IDS(dx), IDS(dy, ids));
    return true;
}
