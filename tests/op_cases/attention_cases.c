#include "op_cases.h"

#include <math.h>

/* {B, H, T, D}: one token, odd and prime lengths, lengths around and past a block of queries, narrow and
 * wide heads. */
static const int64_t shapes[][4] = {
    {1, 1, 1, 2},    {2, 3, 5, 4},    {1, 2, 17, 6},   {2, 1, 64, 16},   {1, 1, 67, 20},
    {1, 2, 129, 10}, {1, 1, 200, 3},  {1, 2, 100, 16}, {2, 1, 129, 8},   {1, 1, 192, 40},
    {1, 3, 65, 64},  {1, 2, 2, 16},   {2, 2, 17, 1},   {1, 2, 100, 3},   {1, 2, 70, 80},
    {1, 1, 64, 80},  {1, 2, 17, 100}, {1, 1, 33, 100}, {1, 1, 129, 128}, {1, 1, 40, 128},
    {1, 1, 64, 192}, {1, 1, 17, 192}, {1, 1, 70, 256}, {1, 1, 20, 256},  {1, 1, 40, 512},
    {1, 1, 17, 512}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, LARGE_CASE = 2 * N_SHAPES };

/* The last case, forward only: scores of thousands. Their softmax is next to a choice of one, whose
 * gradient is a difference of equal numbers. */
static const int64_t large_shape[4] = {1, 1, 17, 16};
static const double large_scale = 2500;

/* q, k, v packed as the model has them, or three tensors; causal or not. */
static void operands(Builder *b, int i, DType act, NodeAttr *attr, int qkv[3])
{
    const int64_t *shape = i < LARGE_CASE ? shapes[i / 2] : large_shape;
    const int64_t B = shape[0], H = shape[1], T = shape[2], C = H * shape[3];
    const double scale = i < LARGE_CASE ? 1 / sqrt((double)shape[3]) : large_scale;
    *attr = (NodeAttr){.heads = H, .tokens = T, .causal = i % 4 < 2, .scale = scale};
    const int packed =
        i % 2 ? builder_tensor(b, "qkv", TK_ACTIVATION, act, DIMS(B * T, 3 * C)) : PLAN_NONE;
    for (int p = 0; p < 3; p++) {
        qkv[p] = i % 2 ? builder_view(b, "part", packed, p * C, DIMS(B * T, C), 3 * C)
                       : builder_tensor(b, "part", TK_ACTIVATION, act, DIMS(B * T, C));
    }
}

bool attention_cases(Builder *b, int i, DType act)
{
    if (i > LARGE_CASE) return false;
    NodeAttr attr;
    int qkv[3];
    operands(b, i, act, &attr, qkv);
    const int out = builder_like(b, "out", qkv[0], act);
    const int64_t B = plan_rows(builder_at(b, out)) / attr.tokens;
    const int lse = builder_tensor(b, "lse", TK_ACTIVATION, op_full_dtype(act),
                                   DIMS(B, attr.heads, attr.tokens));
    *builder_node(b, OP_attention, IDS(out, lse), IDS(qkv[0], qkv[1], qkv[2])) = attr;
    return true;
}

/* Preceded by the forward node: out and lse must belong to q, k and v. */
bool attention_grad_cases(Builder *b, int i, DType act)
{
    if (i == LARGE_CASE || !attention_cases(b, i, act) || b->status != ST_OK) return false;
    const Node forward = b->plan->nodes[b->plan->n_nodes - 1];
    const int dout = builder_like(b, "dout", plan_out_id(b->plan, &forward, 0), act);
    builder_grad_add(b, plan_out_id(b->plan, &forward, 0), dout);
    op_def(OP_attention)->grad(b, &forward);
    return true;
}
