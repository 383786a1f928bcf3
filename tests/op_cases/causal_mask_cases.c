#include "score_shapes.h"

/* Differences of infinities are no numbers: in float64, where gradients are tested, only zeros. */
bool causal_mask_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * SCORE_SHAPES) return false;
    const ScoreShape shape = score_shapes[i / 2];
    const int64_t n = shape.n, T = shape.T;
    const bool inverse = i % 2 || act == DT_F64;
    const int x =
        builder_tensor(b, "x", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int y = builder_like(b, "y", x, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_causal_mask, IDS(y), IDS(x)) =
        (NodeAttr){.inverse = inverse, .window = shape.window};
    return true;
}
