#include "op_cases.h"

/* Widths that are tiny, odd, prime, and a model's own; with and without the residual. A row of one
 * element has no variance: its gradient is a difference of equal numbers. */
static const int64_t shapes[][2] = {{1, 2},    {3, 3},    {5, 33},   {7, 101},
                                    {17, 128}, {9, 768},  {130, 31}, {4500, 8},
                                    {3, 5000}, {2, 8192}, {2, 8200}, {2, 4099}};
/* The first ones serve differences, too, which run a case over and over. The others are for the
 * kernels of a GPU: more rows than it runs at once, long rows, longer than threads hold. */
enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_SMALL = 7 };

static bool is_case(int i, DType act)
{
    return i < 2 * (act == DT_F64 ? N_SMALL : N_SHAPES);
}

bool layernorm_cases(Builder *b, int i, DType act)
{
    if (!is_case(i, act)) return false;
    const int64_t rows = shapes[i / 2][0], cols = shapes[i / 2][1];
    const DType wide = op_full_dtype(act);
    const int x = builder_tensor(b, "x", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(cols));
    const int bias = builder_tensor(b, "b", TK_ACTIVATION, wide, DIMS(cols));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(rows, cols));
    const int m = builder_tensor(b, "m", TK_ACTIVATION, wide, DIMS(rows, 1));
    const int r = builder_tensor(b, "r", TK_ACTIVATION, wide, DIMS(rows, 1));
    int s = PLAN_NONE, delta = PLAN_NONE;
    if (i % 2) {
        delta = builder_tensor(b, "delta", TK_ACTIVATION, act, DIMS(rows, cols));
        s = builder_tensor(b, "s", TK_ACTIVATION, wide, DIMS(rows, cols));
    }
    builder_node(b, OP_layernorm, IDS(y, m, r, s), IDS(x, w, bias, delta))->shift = 1e-5;
    return true;
}

bool layernorm_grad_cases(Builder *b, int i, DType act)
{
    if (!is_case(i, act)) return false;
    const int64_t rows = shapes[i / 2][0], cols = shapes[i / 2][1];
    const DType wide = op_full_dtype(act);
    const int dy = builder_tensor(b, "dy", TK_ACTIVATION, act, DIMS(rows, cols));
    const int s = builder_tensor(b, "s", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(cols));
    const int m = builder_tensor(b, "m", TK_ACTIVATION, wide, DIMS(rows, 1));
    const int r = builder_tensor(b, "+r", TK_ACTIVATION, wide, DIMS(rows, 1));
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int dw = builder_tensor(b, "dw", TK_ACTIVATION, wide, DIMS(cols));
    const int db = builder_tensor(b, "db", TK_ACTIVATION, wide, DIMS(cols));
    int ds = PLAN_NONE, ddelta = PLAN_NONE;
    if (i % 2) {
        ds = builder_tensor(b, "ds", TK_ACTIVATION, wide, DIMS(rows, cols));
        ddelta = builder_tensor(b, "ddelta", TK_ACTIVATION, act, DIMS(rows, cols));
    }
    builder_node(b, OP_layernorm_grad, IDS(dx, ddelta, dw, db), IDS(dy, s, w, m, r, ds))->shift =
        1e-5;
    return true;
}
