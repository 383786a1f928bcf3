#include "norm_shapes.h"

bool rmsnorm_cases(Builder *b, int i, DType act)
{
    NormShape shape;
    if (!norm_shape(i, 0, act, &shape)) return false;
    const int64_t rows = shape.rows, cols = shape.cols;
    const DType wide = op_full_dtype(act);
    const int x = builder_tensor(b, "x", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(cols));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(rows, cols));
    const int r = builder_tensor(b, "r", TK_ACTIVATION, wide, DIMS(rows, 1));
    if (shape.residual) {
        const int delta = builder_tensor(b, "delta", TK_ACTIVATION, act, DIMS(rows, cols));
        const int s = builder_tensor(b, "s", TK_ACTIVATION, wide, DIMS(rows, cols));
        builder_node(b, OP_rmsnorm, IDS(y, r, s), IDS(x, w, delta))->shift = 1e-5;
    } else {
        builder_node(b, OP_rmsnorm, IDS(y, r, PLAN_NONE), IDS(x, w, PLAN_NONE))->shift = 1e-5;
    }
    return true;
}

bool rmsnorm_grad_cases(Builder *b, int i, DType act)
{
    NormShape shape;
    if (!norm_shape(i, 0, act, &shape)) return false;
    const int64_t rows = shape.rows, cols = shape.cols;
    const DType wide = op_full_dtype(act);
    const int dy = builder_tensor(b, "dy", TK_ACTIVATION, act, DIMS(rows, cols));
    const int s = builder_tensor(b, "s", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int w = builder_tensor(b, "w", TK_ACTIVATION, wide, DIMS(cols));
    const int r = builder_tensor(b, "+r", TK_ACTIVATION, wide, DIMS(rows, 1));
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, wide, DIMS(rows, cols));
    const int dw = builder_tensor(b, "dw", TK_ACTIVATION, wide, DIMS(cols));
    int ds = PLAN_NONE, ddelta = PLAN_NONE;
    if (shape.residual) {
        ds = builder_tensor(b, "ds", TK_ACTIVATION, wide, DIMS(rows, cols));
        ddelta = builder_tensor(b, "ddelta", TK_ACTIVATION, act, DIMS(rows, cols));
    }
    builder_node(b, OP_rmsnorm_grad, IDS(dx, ddelta, dw), IDS(dy, s, w, r, ds))->shift = 1e-5;
    return true;
}
