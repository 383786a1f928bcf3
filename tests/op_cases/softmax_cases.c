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

static NodeAttr attributes(int i, const Shape *shape)
{
    return (NodeAttr){
        .causal = i % 2 || shape->window, .window = shape->window, .scale = i % 2 ? 0.125 : 3};
}

/* Each causal and not; probabilities wide beside 16-bit scores in every third case. */
bool softmax_cases(Builder *b, int i, DType act)
{
    if (i >= CASES) return false;
    const Shape shape = shape_of(i);
    const int64_t n = shape.n, T = shape.T;
    const int s = builder_tensor(b, "s", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p = builder_like(b, "p", s, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_softmax, IDS(p), IDS(s)) = attributes(i, &shape);
    return true;
}

bool softmax_grad_cases(Builder *b, int i, DType act)
{
    if (i >= CASES) return false;
    const Shape shape = shape_of(i);
    const int64_t n = shape.n, T = shape.T;
    const int dp = builder_tensor(b, "dp", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p =
        builder_tensor(b, "+p", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int ds = builder_like(b, "ds", dp, act);
    *builder_node(b, OP_softmax_grad, IDS(ds), IDS(dp, p)) = attributes(i, &shape);
    return true;
}
