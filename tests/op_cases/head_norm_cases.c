#include "op_cases.h"

/* Rows, heads, width of a head: one of each, primes, a model's own; then widths for the kernels of
 * a GPU (one vector, a few, more than threads hold), and at last more heads than it runs at once.
 * Each as a tensor, as k between q, which has three times as many heads, and v in one tensor, and as a
 * window where no vector is aligned. */
static const int64_t shapes[][3] = {
    {1, 1, 2},   {3, 2, 5}, {5, 3, 16}, {7, 1, 33},  {17, 4, 64},  {9, 2, 128},  {70, 5, 12},
    {2, 3, 256}, {3, 2, 8}, {5, 2, 80}, {3, 2, 520}, {2, 2, 1040}, {4300, 3, 64}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_SMALL = N_SHAPES - 1 };
typedef enum Layout { WHOLE, PACKED, UNALIGNED, N_LAYOUTS } Layout;

static bool is_case(int i, DType act)
{
    return i < N_LAYOUTS * N_SMALL + (act == DT_F32 ? N_LAYOUTS : 0);
}

static int heads_of(Builder *b, const char *name, DType dtype, const int64_t *s, int layout)
{
    const int64_t W = s[1] * s[2], ld = layout == PACKED ? 5 * W : 2 * W + 8;
    if (layout == WHOLE) return builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(s[0], W));
    const int packed = builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(s[0], ld));
    return builder_view(b, name, packed, layout == PACKED ? 3 * W : W + 1, DIMS(s[0], W), ld);
}

bool head_norm_cases(Builder *b, int i, DType act)
{
    if (!is_case(i, act)) return false;
    const int64_t *s = shapes[i / N_LAYOUTS];
    const DType wide = op_full_dtype(act);
    const int x = heads_of(b, "x", act, s, i % N_LAYOUTS);
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(s[2]));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(s[0], s[1] * s[2]));
    const int r = builder_tensor(b, "r", TK_ACTIVATION, wide, DIMS(s[0], s[1]));
    *builder_node(b, OP_head_norm, IDS(y, r), IDS(x, w)) = (NodeAttr){.heads = s[1], .shift = 1e-6};
    return true;
}

bool head_norm_grad_cases(Builder *b, int i, DType act)
{
    if (!is_case(i, act)) return false;
    const int64_t *s = shapes[i / N_LAYOUTS];
    const DType wide = op_full_dtype(act);
    const int dy = builder_tensor(b, "dy", TK_ACTIVATION, act, DIMS(s[0], s[1] * s[2]));
    const int x = heads_of(b, "x", act, s, i % N_LAYOUTS);
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(s[2]));
    const int r = builder_tensor(b, "+r", TK_ACTIVATION, wide, DIMS(s[0], s[1]));
    const int dx = heads_of(b, "dx", act, s, i % N_LAYOUTS);
    const int dw = builder_tensor(b, "dw", TK_ACTIVATION, wide, DIMS(s[2]));
    *builder_node(b, OP_head_norm_grad, IDS(dx, dw), IDS(dy, x, w, r)) =
        (NodeAttr){.heads = s[1], .shift = 1e-6};
    return true;
}
