#include "op_cases.h"

/* Matrices, and the size of each. */
static const int64_t shapes[][2] = {{1, 1}, {2, 2}, {3, 5}, {5, 17}, {2, 64}, {1, 101}, {2, 128}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Differences of infinities are no numbers: in float64, where gradients are tested, only zeros. */
bool causal_mask_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t n = shapes[i / 2][0], T = shapes[i / 2][1];
    const bool inverse = i % 2 || act == DT_F64;
    const int x =
        builder_tensor(b, "x", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int y = builder_like(b, "y", x, i % 3 ? act : op_full_dtype(act));
    builder_node(b, OP_causal_mask, IDS(y), IDS(x))->inverse = inverse;
    return true;
}
