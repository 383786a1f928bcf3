#include "norm_shapes.h"

bool layernorm_cases(Builder *b, int i, DType act)
{
    NormShape shape;
    if (!norm_shape(i, 1, act, &shape)) return false;
    const int64_t rows = shape.rows, cols = shape.cols;
    const DType wide = op_full_dtype(act);
    const int x = builder_tensor(b, "x", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(cols));
    const int bias = builder_tensor(b, "b", TK_ACTIVATION, wide, DIMS(cols));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(rows, cols));
    const int m = builder_tensor(b, "m", TK_ACTIVATION, wide, DIMS(rows, 1));
    const int r = builder_tensor(b, "r", TK_ACTIVATION, wide, DIMS(rows, 1));
    int s = PLAN_NONE, delta = PLAN_NONE;
    if (shape.residual) {
        delta = builder_tensor(b, "delta", TK_ACTIVATION, act, DIMS(rows, cols));
        s = builder_tensor(b, "s", TK_ACTIVATION, wide, DIMS(rows, cols));
    }
    builder_node(b, OP_layernorm, IDS(y, m, r, s), IDS(x, w, bias, delta))->shift = 1e-5;
    return true;
}

bool layernorm_grad_cases(Builder *b, int i, DType act)
{
    NormShape shape;
    if (!norm_shape(i, 1, act, &shape)) return false;
    const int64_t rows = shape.rows, cols = shape.cols;
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
    if (shape.residual) {
        ds = builder_tensor(b, "ds", TK_ACTIVATION, wide, DIMS(rows, cols));
        ddelta = builder_tensor(b, "ddelta", TK_ACTIVATION, act, DIMS(rows, cols));
    }
    builder_node(b, OP_layernorm_grad, IDS(dx, ddelta, dw, db), IDS(dy, s, w, m, r, ds))->shift =
        1e-5;
    return true;
}
