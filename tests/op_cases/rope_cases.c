#include "op_cases.h"

/* Batch, tokens, heads that turn, head width, columns of each that turn, columns after the heads. */
static const int64_t shapes[][6] = {
    {1, 1, 1, 2, 2, 0},       {2, 3, 1, 2, 2, 1},      {1, 5, 3, 6, 6, 0},
    {3, 7, 5, 10, 10, 0},     {2, 11, 4, 64, 64, 128}, {1, 13, 2, 34, 34, 17},
    {2, 4, 24, 64, 64, 768},  {1, 3, 2, 160, 160, 0},  {2, 5, 3, 8, 4, 0},
    {1, 7, 5, 5, 2, 3},       {2, 3, 7, 64, 16, 64},   {1, 4, 3, 128, 32, 0},
    {2, 3, 9, 128, 128, 128}, {1, 2, 1, 80, 48, 16},   {3, 2, 5, 96, 96, 96},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_FORMS = 16 };

/* [rows, W], or columns 8.. of a wider tensor. */
static int rows_of(Builder *b, const char *name, DType dtype, int64_t rows, int64_t W, bool window)
{
    if (!window) return builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(rows, W));
    const int packed = builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(rows, W + 24));
    return builder_view(b, name, packed, 8, DIMS(rows, W), W + 24);
}

/* Each shape on neighbours and halves, forwards and back; then, where heads fill the row, with the
 * full tables; then as windows, of which only x is one in odd shapes. */
bool rope_cases(Builder *b, int i, DType act)
{
    if (i >= N_FORMS * N_SHAPES) return false;
    const int64_t *s = shapes[i / N_FORMS], B = s[0], T = s[1], H = s[2], D = s[3],
                  W = H * D + s[5];
    const bool inverse = i & 1, full = i & 2 && W == H * D, halves = i & 4, window = i & 8;
    const DType wide = op_full_dtype(act);
    const int x = rows_of(b, "x", act, B * T, W, window);
    const int y = rows_of(b, "y", act, B * T, W, window && i / N_FORMS % 2 == 0);
    const int cos = builder_tensor(b, "cos", TK_CONSTANT, wide, DIMS(T, s[4] / 2));
    const int sin = builder_tensor(b, "sin", TK_CONSTANT, wide, DIMS(T, s[4] / 2));
    int cos_full = PLAN_NONE, sin_full = PLAN_NONE;
    if (full) {
        cos_full = builder_tensor(b, "cos_full", TK_CONSTANT, wide, DIMS(T, W));
        sin_full = builder_tensor(b, "sin_full", TK_CONSTANT, wide, DIMS(T, W));
    }
    NodeAttr *attr = builder_node(b, OP_rope, IDS(y), IDS(x, cos, sin, cos_full, sin_full));
    *attr = (NodeAttr){.tokens = T, .heads = H, .inverse = inverse, .halves = halves};
    if (D == s[4] && !window) return true; /* the widths follow from the tables */
    attr->head_dim = D;
    attr->rotary = s[4];
    return true;
}
