#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 2}, {3, 6}, {5, 34}, {7, 202}, {2, 2502}, {12, 768}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

bool rotate_pairs_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t R = shapes[i / 2][0], W = shapes[i / 2][1];
    const int x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(R, W));
    const int y = builder_like(b, "y", x, i % 3 ? act : op_full_dtype(act));
    builder_node(b, OP_rotate_pairs, IDS(y), IDS(x))->inverse = i % 2;
    return true;
}
