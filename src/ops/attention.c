/* Attention without a T x T matrix in memory:
 *
 *     s = scale q k^T (causal: columns j <= i only)      p = softmax(s)      out = p v
 *
 * attention       out, lse | q, k, v            lse[b, h, t] = log sum exp of row t
 * attention_grad  dq, dk, dv | dout, q, k, v, out, lse
 *
 * q, k, v, out are [B T, H D] with heads side by side (ops/bmm.c); q, k, v may be windows into one
 * packed tensor. Backward computes p = exp(s - lse) again instead of keeping it. With
 * delta = rowsum(dout out):   dv = p^T dout    ds = scale p (dout v^T - delta)    dq = ds k    dk = ds^T q */
#include "ops/head_matrix.h"

#include <math.h>
#include <stdlib.h>

typedef struct Heads {
    HeadMatrix q, k, v, out;
} Heads;

static Status check(const Plan *plan, const Node *node)
{
    const int first = node->op == OP_attention ? 0 : 1;
    for (int i = first; i < first + 3; i++) {
        const Tensor *t = plan_in(plan, node, i);
        if (t->n_dims != 2 || plan_width(t) % node->attr.heads ||
            plan_rows(t) % node->attr.tokens) {
            return FAIL(ST_FAILED, "%s: '%s' is not a stack of %lld heads", node->scope, t->name,
                        (long long)node->attr.heads);
        }
    }
    return ST_OK;
}

/* FLOPs of one product of size T x T x D for every head, half of it when causal. */
static double product_flops(const Plan *plan, const Node *node, int q)
{
    const HeadMatrix m = head_matrix(plan_in(plan, node, q), NULL, &node->attr);
    const double T = (double)m.rows;
    return 2.0 * (double)m.count * T * T * (double)m.cols * (node->attr.causal ? 0.5 : 1.0);
}

static OpCost cost(const Plan *plan, const Node *node)
{
    return (OpCost){.flops = 2 * product_flops(plan, node, 0)};
}

/* The scores computed again are not counted: recomputation is not the model's work. */
static OpCost cost_grad(const Plan *plan, const Node *node)
{
    return (OpCost){.flops = 4 * product_flops(plan, node, 1)};
}

static void grad(Builder *b, const Node *node)
{
    const int out = plan_out_id(b->plan, node, 0), lse = plan_out_id(b->plan, node, 1);
    int in[3], d[3];
    const NodeAttr attr = node->attr;
    for (int i = 0; i < 3; i++) {
        in[i] = plan_in_id(b->plan, node, i);
        d[i] = builder_grad_target(b, in[i]);
    }
    *builder_node(b, OP_attention_grad, IDS(d[0], d[1], d[2]),
                  IDS(builder_grad(b, out), in[0], in[1], in[2], out, lse)) = attr;
    for (int i = 0; i < 3; i++) builder_grad_add(b, in[i], d[i]);
}

static int64_t visible(const NodeAttr *attr, int64_t row)
{
    return attr->causal ? row + 1 : attr->tokens;
}

/* s[j] = scale q_i k_j for the columns row i may see; returns their log-sum-exp. */
static double score_row(const HeadMatrix *q, const HeadMatrix *k, int64_t m, int64_t i,
                        const NodeAttr *attr, double *s)
{
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < visible(attr, i); j++) {
        s[j] = 0;
        for (int64_t d = 0; d < q->cols; d++) {
            s[j] += head_matrix_get(q, m, i, d) * head_matrix_get(k, m, j, d);
        }
        s[j] *= attr->scale;
        if (s[j] > most) most = s[j];
    }
    for (int64_t j = 0; j < visible(attr, i); j++) sum += exp(s[j] - most);
    return most + log(sum);
}

static Status reference(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix out = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix q = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix k = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    const HeadMatrix v = head_matrix(op_in_shape(call, 2), op_in(call, 2), attr);
    const Tensor *lse = op_out_shape(call, 1);
    double *s = malloc((size_t)attr->tokens * sizeof *s);
    if (!s) return NO_MEMORY("for a row of scores");
    for (int64_t m = 0; m < q.count; m++) {
        for (int64_t i = 0; i < attr->tokens; i++) {
            const double l = score_row(&q, &k, m, i, attr, s);
            element_set(op_out(call, 1), lse->dtype, m * attr->tokens + i, l);
            for (int64_t d = 0; d < v.cols; d++) {
                double sum = 0;
                for (int64_t j = 0; j < visible(attr, i); j++) {
                    sum += exp(s[j] - l) * head_matrix_get(&v, m, j, d);
                }
                head_matrix_set(&out, m, i, d, sum);
            }
        }
    }
    free(s);
    return ST_OK;
}

/* One head's backward pass in double. `w` holds dq, dk, dv (T x D each) and a row of scores. */
static void reference_grad_head(const OpCall *call, int64_t m, double *w)
{
    const NodeAttr *attr = &call->node->attr;
    HeadMatrix in[5];
    for (int i = 0; i < 5; i++) in[i] = head_matrix(op_in_shape(call, i), op_in(call, i), attr);
    const HeadMatrix *dout = &in[0], *q = &in[1], *k = &in[2], *v = &in[3], *out = &in[4];
    const int64_t T = attr->tokens, D = q->cols;
    double *dq = w, *dk = w + T * D, *dv = w + 2 * T * D, *s = w + 3 * T * D;
    for (int64_t i = 0; i < 3 * T * D; i++) w[i] = 0;
    for (int64_t i = 0; i < T; i++) {
        const double l = score_row(q, k, m, i, attr, s);
        double delta = 0;
        for (int64_t d = 0; d < D; d++) {
            delta += head_matrix_get(dout, m, i, d) * head_matrix_get(out, m, i, d);
        }
        for (int64_t j = 0; j < visible(attr, i); j++) {
            const double p = exp(s[j] - l);
            double dp = 0;
            for (int64_t d = 0; d < D; d++) {
                dp += head_matrix_get(dout, m, i, d) * head_matrix_get(v, m, j, d);
            }
            const double ds = attr->scale * p * (dp - delta);
            for (int64_t d = 0; d < D; d++) {
                dv[j * D + d] += p * head_matrix_get(dout, m, i, d);
                dq[i * D + d] += ds * head_matrix_get(k, m, j, d);
                dk[j * D + d] += ds * head_matrix_get(q, m, i, d);
            }
        }
    }
}

static Status reference_grad(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    HeadMatrix to[3];
    for (int i = 0; i < 3; i++) to[i] = head_matrix(op_out_shape(call, i), op_out(call, i), attr);
    const int64_t T = attr->tokens, D = to[0].cols;
    double *w = malloc((size_t)(3 * T * D + T) * sizeof *w);
    if (!w) return NO_MEMORY("for one head");
    for (int64_t m = 0; m < to[0].count; m++) {
        reference_grad_head(call, m, w);
        for (int64_t i = 0; i < 3 * T * D; i++) {
            head_matrix_set(&to[i / (T * D)], m, i % (T * D) / D, i % D, w[i]);
        }
    }
    free(w);
    return ST_OK;
}

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

static bool cases(Builder *b, int i, DType act)
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
static bool cases_grad(Builder *b, int i, DType act)
{
    if (i == LARGE_CASE || !cases(b, i, act) || b->status != ST_OK) return false;
    const Node forward = b->plan->nodes[b->plan->n_nodes - 1];
    const int dout = builder_like(b, "dout", plan_out_id(b->plan, &forward, 0), act);
    builder_grad_add(b, plan_out_id(b->plan, &forward, 0), dout);
    grad(b, &forward);
    return true;
}

const OpDef attention_def = {
    OP_SOURCE,    .auxiliary = 1U << 1,   .check = check, .cost = cost,
    .grad = grad, .reference = reference, .cases = cases,
};

const OpDef attention_grad_def = {
    OP_SOURCE, .check = check, .cost = cost_grad, .reference = reference_grad, .cases = cases_grad,
};
