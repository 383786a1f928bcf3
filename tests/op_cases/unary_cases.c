#include "op_cases.h"
#include "plan/op_functions.h"

#include <stdio.h>

/* What the derivative of a function reads. */
static bool needs_x(int fn)
{
    return fn == FN_SQUARE || fn == FN_LOG || fn >= FN_SILU;
}

static bool needs_y(int fn)
{
    return fn == FN_EXP || fn == FN_RSQRT;
}

enum { N_FNS = FN_GELU_ERF + 1 };
static const int64_t shapes[][2] = {{1, 1}, {3, 2}, {5, 33}, {7, 101}, {3, 2500}, {12, 768}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* GELU far from 0, where squares of x leave a float; an f16 ends at 65504. Two cases of each form. */
static bool is_far(int i)
{
    return i >= N_FNS * (N_SHAPES + 1);
}

static bool far_case(Builder *b, int i, DType act, bool gradient)
{
    const int64_t n = 1003;
    i -= N_FNS * (N_SHAPES + 1);
    if (i >= 4 || act == DT_F64) return false; /* no differences of numbers this large */
    const char *name = i < 2 ? "~9x" : act == DT_F16 ? "~3e4x" : "~1e30x";
    const int x = builder_tensor(b, name, TK_ACTIVATION, act, DIMS(n));
    const int y = builder_tensor(b, gradient ? "dx" : "y", TK_ACTIVATION, act, DIMS(n));
    const NodeAttr attr = {.fn = i % 2 ? FN_GELU_ERF : FN_GELU_TANH};
    if (gradient) {
        const int dy = builder_tensor(b, "dy", TK_ACTIVATION, act, DIMS(n));
        *builder_node(b, OP_unary_grad, IDS(y), IDS(dy, x, PLAN_NONE)) = attr;
    } else {
        *builder_node(b, OP_unary, IDS(y), IDS(x)) = attr;
    }
    return true;
}

static int input(Builder *b, const char *name, bool positive, DType dtype, const int64_t *shape,
                 bool window)
{
    char full[16];
    snprintf(full, sizeof full, "%s%s", positive ? "+" : "", name);
    if (!window) return builder_tensor(b, full, TK_ACTIVATION, dtype, 2, shape);
    const int64_t ld = 2 * shape[1] + 1;
    const int base = builder_tensor(b, full, TK_ACTIVATION, dtype, DIMS(shape[0], ld));
    return builder_view(b, full, base, shape[1], 2, shape, ld);
}

/* Every function with every shape, from act to act, wide to act and act to wide in turn; then from
 * a window. */
bool unary_cases(Builder *b, int i, DType act)
{
    if (is_far(i)) return far_case(b, i, act, false);
    const int fn = i % N_FNS, k = i / N_FNS;
    const bool window = k == N_SHAPES, positive = fn == FN_LOG || fn == FN_RSQRT;
    const int64_t *shape = shapes[window ? 3 : k];
    const DType wide = op_full_dtype(act), from = k % 3 == 1 ? wide : act,
                to = k % 3 == 2 ? wide : act;
    const int x = input(b, "x", positive, from, shape, window);
    const int y = builder_tensor(b, "y", TK_ACTIVATION, to, 2, shape);
    *builder_node(b, OP_unary, IDS(y), IDS(x)) = (NodeAttr){.fn = fn, .scale = -1.5, .shift = 0.25};
    return true;
}

bool unary_grad_cases(Builder *b, int i, DType act)
{
    if (is_far(i)) return far_case(b, i, act, true);
    const int fn = i % N_FNS, k = i / N_FNS;
    const bool window = k == N_SHAPES, positive = fn != FN_SQUARE && fn < FN_SILU;
    const int64_t *shape = shapes[window ? 3 : k];
    const DType wide = op_full_dtype(act), from = k % 3 == 1 ? wide : act,
                to = k % 3 == 2 ? wide : act;
    const int dy = builder_tensor(b, "dy", TK_ACTIVATION, to, 2, shape);
    const int x = needs_x(fn) ? input(b, "x", positive, from, shape, window) : PLAN_NONE;
    const int y = needs_y(fn) ? input(b, "y", positive, to, shape, window) : PLAN_NONE;
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, from, 2, shape);
    *builder_node(b, OP_unary_grad, IDS(dx), IDS(dy, x, y)) =
        (NodeAttr){.fn = fn, .scale = -1.5, .shift = 0.25};
    return true;
}
