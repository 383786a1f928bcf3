#include "op_cases.h"

/* Matrices, and the size of each. */
static const int64_t shapes[][2] = {{1, 1}, {2, 2}, {3, 5}, {5, 17}, {2, 64}, {1, 101}, {2, 128}};

/* Matrices, the size of each, and the sliding window. */
static const int64_t windows[][3] = {{1, 1, 1},   {3, 2, 1},    {2, 5, 3},
                                     {3, 17, 16}, {2, 17, 22},  {2, 64, 3},
                                     {1, 64, 16}, {1, 100, 33}, {1, 100, 99}};
enum {
    N_SHAPES = sizeof shapes / sizeof *shapes,
    N_WINDOWS = sizeof windows / sizeof *windows,
    CASES = 2 * (N_SHAPES + N_WINDOWS)
};

typedef struct Shape {
    int64_t n, T, window;
} Shape;

static Shape shape_of(int i)
{
    if (i < 2 * N_SHAPES) return (Shape){shapes[i / 2][0], shapes[i / 2][1], 0};
    const int64_t *s = windows[i / 2 - N_SHAPES];
    return (Shape){s[0], s[1], s[2]};
}

/* Differences of infinities are no numbers: in float64, where gradients are tested, only zeros. */
bool causal_mask_cases(Builder *b, int i, DType act)
{
    if (i >= CASES) return false;
    const Shape shape = shape_of(i);
    const int64_t n = shape.n, T = shape.T;
    const bool inverse = i % 2 || act == DT_F64;
    const int x =
        builder_tensor(b, "x", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int y = builder_like(b, "y", x, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_causal_mask, IDS(y), IDS(x)) =
        (NodeAttr){.inverse = inverse, .window = shape.window};
    return true;
}
