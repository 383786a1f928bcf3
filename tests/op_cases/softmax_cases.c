#include "score_shapes.h"

static NodeAttr attributes(int i, const ScoreShape *shape)
{
    return (NodeAttr){
        .causal = i % 2 || shape->window, .window = shape->window, .scale = i % 2 ? 0.125 : 3};
}

/* Each causal and not; probabilities wide beside 16-bit scores in every third case. */
bool softmax_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * SCORE_SHAPES) return false;
    const ScoreShape shape = score_shapes[i / 2];
    const int64_t n = shape.n, T = shape.T;
    const int s = builder_tensor(b, "s", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p = builder_like(b, "p", s, i % 3 ? act : op_full_dtype(act));
    *builder_node(b, OP_softmax, IDS(p), IDS(s)) = attributes(i, &shape);
    return true;
}

bool softmax_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * SCORE_SHAPES) return false;
    const ScoreShape shape = score_shapes[i / 2];
    const int64_t n = shape.n, T = shape.T;
    const int dp = builder_tensor(b, "dp", TK_ACTIVATION, act, DIMS(n, T, T));
    const int p =
        builder_tensor(b, "+p", TK_ACTIVATION, i % 3 ? act : op_full_dtype(act), DIMS(n, T, T));
    const int ds = builder_like(b, "ds", dp, act);
    *builder_node(b, OP_softmax_grad, IDS(ds), IDS(dp, p)) = attributes(i, &shape);
    return true;
}
