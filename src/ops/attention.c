/* Attention without a T x T matrix in memory:
 *
 *     s = scale q k^T (columns that ops/visible_keys.h says)      p = softmax(s)      out = p v
 *
 * attention       out, lse | q, k, v            lse[b, h, t] = log sum exp of row t
 * attention_grad  dq, dk, dv | dout, q, k, v, out, lse
 *
 * q, out are [B T, H D] and k, v [B T, Hkv D] with heads side by side (ops/bmm.c); q, k, v may be windows
 * into one packed tensor. Hkv is H, or divides it where attr.head_dim is D: then head h of q attends to
 * head h Hkv / H of k and v, and dk, dv sum over the heads of q that share them.
 *
 * Backward computes p = exp(s - lse) again instead of keeping it. With delta = rowsum(dout out):
 *     dv = p^T dout      ds = scale p (dout v^T - delta)      dq = ds k      dk = ds^T q */
#include "ops/head_matrix.h"
#include "ops/op_check.h"
#include "ops/visible_keys.h"

#include <math.h>
#include <stdlib.h>

static bool same_shape(const Tensor *x, const Tensor *y)
{
    return plan_rows(x) == plan_rows(y) && plan_width(x) == plan_width(y);
}

/* q with its gradient or result, k and v with theirs; `first` is q's place among the inputs. */
static Status check_shapes(const Plan *plan, const Node *node, int first)
{
    const Tensor *q = plan_in(plan, node, first), *k = plan_in(plan, node, first + 1);
    const int64_t H = node->attr.heads, D = node->attr.head_dim;
    bool fits = same_shape(k, plan_in(plan, node, first + 2)) && plan_rows(k) == plan_rows(q) &&
                same_shape(q, plan_out(plan, node, 0)) && (D ? plan_width(q) == H * D : true);
    if (first > 0) {
        fits = fits && same_shape(k, plan_out(plan, node, 1)) &&
               same_shape(k, plan_out(plan, node, 2)) && same_shape(q, plan_in(plan, node, 0)) &&
               same_shape(q, plan_in(plan, node, first + 3));
    }
    if (fits && (D || plan_width(k) == plan_width(q))) return ST_OK;
    return FAIL(ST_FAILED, "%s (%s): q is %lld wide, k %lld: not %lld heads that k and v share",
                plan_op_name(node->op), node->scope, (long long)plan_width(q),
                (long long)plan_width(k), (long long)H);
}

static Status check(const Plan *plan, const Node *node)
{
    const bool forward = node->op == OP_attention;
    const int first = forward ? 0 : 1;
    TRY(op_check_present(plan, node, forward ? 2 : 3, forward ? 3 : 6));
    for (int i = first; i < first + 3; i++) TRY(op_check_heads(node, plan_in(plan, node, i)));
    TRY(check_shapes(plan, node, first));
    return op_check_window(node);
}

/* FLOPs of one product of size T x T x D for every head of q: of the pairs that are visible. */
static double product_flops(const Plan *plan, const Node *node, int q)
{
    const HeadMatrix m = head_matrix(plan_in(plan, node, q), NULL, &node->attr);
    return 2.0 * (double)m.count * visible_keys_pairs(&node->attr, m.rows) * (double)m.cols;
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
    for (int i = 0; i < 3; i++) {
        in[i] = plan_in_id(b->plan, node, i);
        d[i] = builder_grad_target(b, in[i]);
    }
    *builder_node(b, OP_attention_grad, IDS(d[0], d[1], d[2]),
                  IDS(builder_grad(b, out), in[0], in[1], in[2], out, lse)) = node->attr;
    for (int i = 0; i < 3; i++) builder_grad_add(b, in[i], d[i]);
}

static int64_t first_key(const NodeAttr *attr, int64_t row)
{
    return visible_keys_first(attr, row);
}

static int64_t end_key(const NodeAttr *attr, int64_t row)
{
    return visible_keys_end(attr, row, attr->tokens);
}

/* s[j] = scale q_i k_j for the columns row i may see; returns their log-sum-exp. */
static double score_row(const HeadMatrix *q, const HeadMatrix *k, int64_t m, int64_t i,
                        const NodeAttr *attr, double *s)
{
    double most = -INFINITY, sum = 0;
    for (int64_t j = first_key(attr, i); j < end_key(attr, i); j++) {
        s[j] = 0;
        for (int64_t d = 0; d < q->cols; d++) {
            s[j] += head_matrix_get(q, m, i, d) * head_matrix_get(k, m, j, d);
        }
        s[j] *= attr->scale;
        if (s[j] > most) most = s[j];
    }
    for (int64_t j = first_key(attr, i); j < end_key(attr, i); j++) sum += exp(s[j] - most);
    return most + log(sum);
}

static Status reference(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix out = head_matrix_out(call, 0), q = head_matrix_in(call, 0);
    const HeadMatrix k = head_matrix_in(call, 1), v = head_matrix_in(call, 2);
    const Tensor *lse = op_out_shape(call, 1);
    double *s = malloc((size_t)attr->tokens * sizeof *s);
    if (!s) return NO_MEMORY("for a row of scores");
    for (int64_t m = 0; m < q.count; m++) {
        for (int64_t i = 0; i < attr->tokens; i++) {
            const double l = score_row(&q, &k, m, i, attr, s);
            element_set(op_out(call, 1), lse->dtype, m * attr->tokens + i, l);
            for (int64_t d = 0; d < v.cols; d++) {
                double sum = 0;
                for (int64_t j = first_key(attr, i); j < end_key(attr, i); j++) {
                    sum += exp(s[j] - l) * head_matrix_get(&v, m, j, d);
                }
                head_matrix_set(&out, m, i, d, sum);
            }
        }
    }
    free(s);
    return ST_OK;
}

/* One head's backward pass in double. `w` holds dq, dk, dv (T x D each) and a row of scores; dk and dv
 * are added to what the heads before it in its group left there. */
static void reference_grad_head(const OpCall *call, int64_t m, double *w)
{
    const NodeAttr *attr = &call->node->attr;
    HeadMatrix in[5];
    for (int i = 0; i < 5; i++) in[i] = head_matrix_in(call, i);
    const HeadMatrix *dout = &in[0], *q = &in[1], *k = &in[2], *v = &in[3], *out = &in[4];
    const int64_t T = attr->tokens, D = q->cols;
    double *dq = w, *dk = w + T * D, *dv = w + 2 * T * D, *s = w + 3 * T * D;
    for (int64_t i = 0; i < (m % k->group ? 1 : 3) * T * D; i++) w[i] = 0;
    for (int64_t i = 0; i < T; i++) {
        const double l = score_row(q, k, m, i, attr, s);
        double delta = 0;
        for (int64_t d = 0; d < D; d++) {
            delta += head_matrix_get(dout, m, i, d) * head_matrix_get(out, m, i, d);
        }
        for (int64_t j = first_key(attr, i); j < end_key(attr, i); j++) {
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
    for (int i = 0; i < 3; i++) to[i] = head_matrix_out(call, i);
    const int64_t T = attr->tokens, D = to[0].cols;
    double *w = malloc((size_t)(3 * T * D + T) * sizeof *w);
    if (!w) return NO_MEMORY("for one head");
    for (int64_t m = 0; m < to[0].count; m++) {
        reference_grad_head(call, m, w);
        const bool last = m % to[1].group == to[1].group - 1;
        for (int64_t i = 0; i < (last ? 3 : 1) * T * D; i++) {
            head_matrix_set(&to[i / (T * D)], m, i % (T * D) / D, i % D, w[i]);
        }
    }
    free(w);
    return ST_OK;
}

const OpDef attention_def = {
    OP_SOURCE,    .auxiliary = 1U << 1, .check = check,
    .cost = cost, .grad = grad,         .reference = reference,
};

const OpDef attention_grad_def = {OP_SOURCE, .check = check, .cost = cost_grad,
                                  .reference = reference_grad};
