#include "op_cases.h"

/* Matrices, and the size of each. */
static const int64_t shapes[][2] = {{1, 1}, {2, 2}, {3, 5}, {5, 17}, {2, 64}, {1, 101}, {2, 128}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Each causal and not; probabilities wide beside 16-bit scores in every third case. */
bool softmax_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t n = shapes[i / 2][0], T = shapes[i / 2][1];
    const int s = builder_tensor(b, "s", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p = builder_like(b, "p", s, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_softmax, IDS(p), IDS(s)) =
        (NodeAttr){.causal = i % 2, .scale = i % 2 ? 0.125 : 3};
    return true;
}

bool softmax_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t n = shapes[i / 2][0], T = shapes[i / 2][1];
    const int dp = builder_tensor(b, "dp", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p =
        builder_tensor(b, "+p", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int ds = builder_like(b, "ds", dp, act);
    *builder_node(b, OP_softmax_grad, IDS(ds), IDS(dp, p)) =
        (NodeAttr){.causal = i % 2, .scale = i % 2 ? 0.125 : 3};
    return true;
}
