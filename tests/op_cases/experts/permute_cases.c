#include "expert_shapes.h"

bool permute_cases(Builder *b, int i, DType act)
{
    if (i >= 3 * EXPERT_SHAPES) return false;
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES];
    const ExpertRows r = expert_shapes_rows(b, i);
    const int x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(s[0], s[3]));
    const int xp = builder_tensor(b, "xp", TK_ACTIVATION, act, DIMS(s[0] * s[2], s[3]));
    builder_node(b, OP_permute, IDS(xp), IDS(x, r.place));
    return true;
}

/* With weights, then without. */
bool unpermute_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * EXPERT_SHAPES) return false;
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES];
    const ExpertRows r = expert_shapes_rows(b, i);
    const int yp = builder_tensor(b, "yp", TK_ACTIVATION, act, DIMS(s[0] * s[2], s[3]));
    const int y = builder_tensor(b, "y", TK_ACTIVATION, act, DIMS(s[0], s[3]));
    const int weights = i < 3 * EXPERT_SHAPES ? builder_tensor(b, "weights", TK_ACTIVATION,
                                                               op_full_dtype(act), DIMS(s[0], s[2]))
                                              : PLAN_NONE;
    builder_node(b, OP_unpermute, IDS(y), IDS(yp, r.place, weights));
    return true;
}

bool unpermute_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 3 * EXPERT_SHAPES) return false;
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES];
    const DType wide = op_full_dtype(act);
    const ExpertRows r = expert_shapes_rows(b, i);
    const int dy = builder_tensor(b, "dy", TK_ACTIVATION, act, DIMS(s[0], s[3]));
    const int yp = builder_tensor(b, "yp", TK_ACTIVATION, act, DIMS(s[0] * s[2], s[3]));
    const int weights = builder_tensor(b, "weights", TK_ACTIVATION, wide, DIMS(s[0], s[2]));
    const int dyp = builder_tensor(b, "dyp", TK_ACTIVATION, act, DIMS(s[0] * s[2], s[3]));
    const int dweights = builder_tensor(b, "dweights", TK_ACTIVATION, wide, DIMS(s[0], s[2]));
    builder_node(b, OP_unpermute_grad, IDS(dyp, dweights), IDS(dy, yp, r.place, weights));
    return true;
}
