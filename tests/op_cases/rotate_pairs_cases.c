#include "op_cases.h"

/* Rows, columns, width of a head (0: pairs fill the row), columns of each that turn. */
static const int64_t shapes[][4] = {
    {1, 2, 0, 0},    {3, 6, 0, 0},      {5, 34, 0, 0},      {7, 202, 0, 0},      {2, 2502, 0, 0},
    {12, 768, 0, 0}, {1, 2, 2, 0},      {3, 15, 5, 4},      {5, 30, 6, 0},       {7, 192, 64, 16},
    {2, 896, 64, 0}, {3, 640, 128, 32}, {4, 384, 128, 128}, {2, 1320, 440, 300},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Each forwards and back, of windows, and of halves where there are heads. */
bool rotate_pairs_cases(Builder *b, int i, DType act)
{
    if (i >= 8 * N_SHAPES) return false;
    const int64_t *s = shapes[i / 8], W = s[1], ld = i & 4 ? W + 8 : W;
    const int packed = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(s[0], ld));
    const int x = i & 4 ? builder_view(b, "x", packed, 4, DIMS(s[0], W), ld) : packed;
    const int y = builder_like(b, "y", x, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_rotate_pairs, IDS(y), IDS(x)) =
        (NodeAttr){.inverse = i & 1, .halves = i & 2 && s[2], .head_dim = s[2], .rotary = s[3]};
    return true;
}
