#include "base/i64.h"
#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 1},    {1, 2},    {3, 5},     {7, 101},  {33, 64},
                                    {5, 1024}, {2, 2503}, {4, 10000}, {129, 31}, {2, 50257}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Rows that are whole vectors and lie apart, whatever the vocabulary; `more` of them. */
static int padded(Builder *b, int tensor, int more)
{
    const int64_t V = plan_width(builder_at(b, tensor));
    if (more > 0) builder_set_ld(b, tensor, i64_round_up(V, 8) + 8 * (more - 1));
    return tensor;
}

/* Of every second shape: the rows of a chunk of more. */
static int64_t mean_rows(int shape)
{
    return shape % 2 ? 3 * shapes[shape][0] + 1 : 0;
}

/* Each with lse, and without it, then with rows that lie apart; float64 is where gradients are
 * tested, which need it. */
bool cross_entropy_cases(Builder *b, int i, DType act)
{
    if (i >= 4 * N_SHAPES) return false;
    const int apart = i / (2 * N_SHAPES);
    i %= 2 * N_SHAPES;
    const int64_t N = shapes[i / 2][0], V = shapes[i / 2][1];
    const DType wide = op_full_dtype(act);
    const bool forward_only = i % 2 && act != DT_F64;
    const int logits = padded(b, builder_tensor(b, "logits", TK_LOGITS, act, DIMS(N, V)), apart);
    const int targets = op_cases_indices(b, "targets", V, DIMS(N));
    const int loss = builder_tensor(b, "loss", TK_ACTIVATION, wide, DIMS(1));
    const int lse =
        forward_only ? PLAN_NONE : builder_tensor(b, "lse", TK_ACTIVATION, wide, DIMS(N));
    builder_node(b, OP_cross_entropy, IDS(loss, lse), IDS(logits, targets))->tokens =
        mean_rows(i / 2);
    return true;
}

/* In one memory where both have the same distance from row to row, and where they have not. */
bool cross_entropy_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * N_SHAPES) return false;
    const int apart = i / (2 * N_SHAPES);
    i %= 2 * N_SHAPES;
    const int64_t N = shapes[i / 2][0], V = shapes[i / 2][1];
    const DType wide = op_full_dtype(act);
    const int dloss = builder_tensor(b, "+dloss", TK_ACTIVATION, i % 2 ? DT_F64 : wide, DIMS(1));
    const int logits = padded(b, builder_tensor(b, "logits", TK_LOGITS, act, DIMS(N, V)), apart);
    const int targets = op_cases_indices(b, "targets", V, DIMS(N));
    const int lse = builder_tensor(b, "+lse", TK_ACTIVATION, wide, DIMS(N));
    const int dlogits =
        padded(b, builder_like(b, "dlogits", logits, act), i % 2 ? apart : apart % 2);
    builder_node(b, OP_cross_entropy_grad, IDS(dlogits), IDS(dloss, logits, targets, lse))->tokens =
        mean_rows(i / 2);
    return true;
}
