#include "op_cases.h"

/* Batch, tokens, heads that turn, head width, columns after them. */
static const int64_t shapes[][5] = {
    {1, 1, 1, 2, 0},     {2, 3, 1, 2, 1},    {1, 5, 3, 6, 0},     {3, 7, 5, 10, 0},
    {2, 11, 4, 64, 128}, {1, 13, 2, 34, 17}, {2, 4, 24, 64, 768}, {1, 3, 2, 160, 0},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Each shape forwards and back; then, where whole rows turn, with the full tables. */
bool rope_cases(Builder *b, int i, DType act)
{
    if (i >= 4 * N_SHAPES) return false;
    const int64_t *s = shapes[i / 4], B = s[0], T = s[1], H = s[2], D = s[3], W = H * D + s[4];
    const DType wide = op_full_dtype(act);
    const int x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(B * T, W));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(B * T, W));
    const int cos = builder_tensor(b, "cos", TK_CONSTANT, wide, DIMS(T, D / 2));
    const int sin = builder_tensor(b, "sin", TK_CONSTANT, wide, DIMS(T, D / 2));
    int cos_full = PLAN_NONE, sin_full = PLAN_NONE;
    if (i % 4 >= 2 && W == H * D) {
        cos_full = builder_tensor(b, "cos_full", TK_CONSTANT, wide, DIMS(T, W));
        sin_full = builder_tensor(b, "sin_full", TK_CONSTANT, wide, DIMS(T, W));
    }
    *builder_node(b, OP_rope, IDS(y), IDS(x, cos, sin, cos_full, sin_full)) =
        (NodeAttr){.tokens = T, .heads = H, .inverse = i % 2};
    return true;
}
