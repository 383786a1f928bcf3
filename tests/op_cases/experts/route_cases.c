#include "expert_shapes.h"

/* Tokens, experts, experts of a token. */
static const int64_t shapes[][3] = {
    {1, 1, 1}, {3, 5, 1}, {7, 6, 2}, {5, 8, 8}, {33, 31, 3}, {40, 128, 8}, {1, 1024, 17}, {9, 2, 2},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, KINDS = 4 };

/* "#2": logits of 0 and 1 alone, so that nearly all are ties. Differences would choose others there, so
 * the choice is given to them. */
static int logits_of(Builder *b, int kind, DType act, const int64_t *s)
{
    return builder_tensor(b, kind == 3 ? "#2logits" : "~4logits", TK_ACTIVATION, act,
                          DIMS(s[0], s[1]));
}

/* K different experts of each token: those of other logits. */
static int different(Builder *b, const int64_t *s)
{
    const int logits = builder_tensor(b, "others", TK_INPUT, DT_F32, DIMS(s[0], s[1]));
    const int weights = builder_tensor(b, "theirs", TK_ACTIVATION, DT_F32, DIMS(s[0], s[2]));
    const int choice = builder_tensor(b, "given", TK_ACTIVATION, DT_I32, DIMS(s[0], s[2]));
    builder_node(b, OP_route, IDS(weights, choice), IDS(logits, PLAN_NONE));
    return choice;
}

/* Softmax over all, or the chosen alone; the choice made, or given. */
bool route_cases(Builder *b, int i, DType act)
{
    if (i >= KINDS * N_SHAPES) return false;
    const int64_t *s = shapes[i % N_SHAPES];
    const int kind = i / N_SHAPES;
    const bool given = kind == 2 || (kind == 3 && act == DT_F64);
    const int logits = logits_of(b, kind, act, s);
    const int chosen = given ? different(b, s) : PLAN_NONE;
    const int weights =
        builder_tensor(b, "weights", TK_ACTIVATION, op_full_dtype(act), DIMS(s[0], s[2]));
    const int choice = builder_tensor(b, "choice", TK_ACTIVATION, DT_I32, DIMS(s[0], s[2]));
    builder_node(b, OP_route, IDS(weights, choice), IDS(logits, chosen))->renormalise = kind % 2;
    return true;
}

/* The choice is one that the forward pass makes: K different experts. */
bool route_grad_cases(Builder *b, int i, DType act)
{
    if (i >= KINDS * N_SHAPES) return false;
    const int64_t *s = shapes[i % N_SHAPES];
    const int kind = i / N_SHAPES;
    const int logits = logits_of(b, kind, act, s);
    const int weights =
        builder_tensor(b, "weights", TK_ACTIVATION, op_full_dtype(act), DIMS(s[0], s[2]));
    const int choice = builder_tensor(b, "choice", TK_ACTIVATION, DT_I32, DIMS(s[0], s[2]));
    const int dweights =
        builder_tensor(b, "dweights", TK_ACTIVATION, op_full_dtype(act), DIMS(s[0], s[2]));
    const int dlogits = builder_tensor(b, "dlogits", TK_ACTIVATION, act, DIMS(s[0], s[1]));
    builder_node(b, OP_route, IDS(weights, choice), IDS(logits, PLAN_NONE))->renormalise = kind % 2;
    builder_node(b, OP_route_grad, IDS(dlogits), IDS(dweights, logits, choice))->renormalise =
        kind % 2;
    return true;
}

bool expert_rows_cases(Builder *b, int i, DType act)
{
    (void)act;
    if (i >= 3 * EXPERT_SHAPES) return false;
    expert_shapes_rows(b, i);
    return true;
}
