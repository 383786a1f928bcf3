#include "op_cases.h"
#include "plan/op_functions.h"

static const int64_t shapes[][2] = {{1, 1},   {3, 2},    {5, 33},   {7, 101},  {2, 2500},
                                    {9, 768}, {130, 31}, {1, 4099}, {1500, 3}, {75, 3072}};
enum { N_FNS = FN_COL_SUM + 1, N_SHAPES = sizeof shapes / sizeof *shapes };

bool reduce_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_FNS * N_SHAPES) return false;
    const bool window = i >= N_FNS * N_SHAPES; /* whose rows lie further apart */
    const int fn = i % N_FNS, k = i / N_FNS % N_SHAPES;
    const int64_t R = shapes[k][0], W = shapes[k][1];
    const TensorKind kind =
        fn == FN_ROW_MAX || window ? TK_CONSTANT : TK_ACTIVATION; /* no gradient */
    const DType from = k % 3 ? act : op_full_dtype(act);
    const int64_t ld = window ? W + 8 - W % 8 : W;
    int x = builder_tensor(b, "x", kind, from, DIMS(R, ld));
    if (window) x = builder_view(b, "window", x, 0, DIMS(R, W), ld);
    const DType to = k % 2 ? act : op_full_dtype(act);
    const int y = fn == FN_COL_SUM ? builder_tensor(b, "y", TK_ACTIVATION, to, DIMS(W))
                                   : builder_tensor(b, "y", TK_ACTIVATION, to, DIMS(R, 1));
    builder_node(b, OP_reduce, IDS(y), IDS(x))->fn = fn;
    return true;
}
