#include "op_cases.h"

/* B, H, T, D: odd sizes, and whole tiles of kernels with remainders. */
static const int64_t shapes[][4] = {
    {1, 1, 1, 2},    {2, 3, 5, 4},   {1, 2, 17, 6},  {3, 1, 33, 20},  {2, 3, 20, 4},
    {1, 2, 132, 16}, {3, 1, 68, 28}, {2, 2, 68, 64}, {1, 1, 132, 40}, {1, 2, 20, 6}};

/* B, H, heads of k and v, T, D: heads of q that share one of k and v. */
static const int64_t shared_shapes[][5] = {{1, 4, 2, 1, 2},   {2, 6, 2, 5, 6},   {1, 7, 1, 17, 16},
                                           {2, 3, 1, 33, 6},  {1, 14, 2, 20, 4}, {1, 2, 1, 68, 80},
                                           {1, 3, 1, 132, 16}};

enum {
    N_SHAPES = sizeof shapes / sizeof *shapes,
    N_SHARED = sizeof shared_shapes / sizeof *shared_shapes,
    SHARED_CASES = 6 * N_SHAPES
};

typedef struct Shape {
    int64_t B, H, kv_heads, T, D;
} Shape;

static Shape shape_of(int i)
{
    if (i >= SHARED_CASES) {
        const int64_t *s = shared_shapes[(i - SHARED_CASES) / 6];
        return (Shape){s[0], s[1], s[2], s[3], s[4]};
    }
    const int64_t *s = shapes[i / 6];
    return (Shape){s[0], s[1], s[1], s[2], s[3]};
}

/* [B T, heads D], as a window into a tensor with room on both sides or as one of its own. */
static int stack(Builder *b, const char *name, DType act, const Shape *s, int64_t heads,
                 bool window)
{
    const int64_t rows = s->B * s->T, C = heads * s->D;
    if (!window) return builder_tensor(b, name, TK_ACTIVATION, act, DIMS(rows, C));
    const int packed = builder_tensor(b, "packed", TK_ACTIVATION, act, DIMS(rows, 3 * C));
    return builder_view(b, "window", packed, C, DIMS(rows, C), 3 * C);
}

/* q k^T, p v and p^T dout, the last into the heads of k and v; the heads as windows into a wider
 * tensor too. */
bool bmm_cases(Builder *b, int i, DType act)
{
    enum { Q_KT, P_V, PT_DOUT };
    if (i >= SHARED_CASES + 6 * N_SHARED) return false;
    const Shape s = shape_of(i);
    const int product = i % 6 / 2;
    const NodeAttr attr = {.heads = s.H,
                           .tokens = s.T,
                           .head_dim = s.kv_heads == s.H ? 0 : s.D,
                           .scale = 0.7,
                           .transpose_a = product == PT_DOUT,
                           .transpose_b = product == Q_KT};
    const int heads = stack(b, "heads", act, &s, product == PT_DOUT ? s.H : s.kv_heads, i % 2);
    if (product == Q_KT) {
        const int other = stack(b, "other", act, &s, s.H, false);
        const int c = builder_tensor(b, "scores", TK_ACTIVATION, act, DIMS(s.B, s.H, s.T, s.T));
        *builder_node(b, OP_bmm, IDS(c), IDS(other, heads)) = attr;
    } else {
        const int p = builder_tensor(b, "p", TK_ACTIVATION, act, DIMS(s.B, s.H, s.T, s.T));
        const int out = stack(b, "out", act, &s, product == PT_DOUT ? s.kv_heads : s.H, false);
        *builder_node(b, OP_bmm, IDS(out), IDS(p, heads)) = attr;
    }
    return true;
}
