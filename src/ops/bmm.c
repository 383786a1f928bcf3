/* The products of attention, one for every sequence and head: c = scale op(a) op(b).
 *
 * bmm  c | a, b        attr.heads = H, attr.tokens = T
 *
 * An operand of four dimensions [B, H, T, T] is a stack of scores. One of two dimensions [B T, H D]
 * holds the heads side by side: row t of head h starts at column h D (rows may be ld apart, so q, k
 * and v can be windows into one packed tensor). The gradient of such a product is two more. */
#include "ops/head_matrix.h"

static int64_t inner(const Plan *plan, const Node *node)
{
    const HeadMatrix a = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    return node->attr.transpose_a ? a.rows : a.cols;
}

static Status check(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    const HeadMatrix c = head_matrix(plan_out(plan, node, 0), NULL, attr);
    const HeadMatrix a = head_matrix(plan_in(plan, node, 0), NULL, attr);
    const HeadMatrix b = head_matrix(plan_in(plan, node, 1), NULL, attr);
    const int64_t k = inner(plan, node);
    if ((attr->transpose_a ? a.cols : a.rows) != c.rows ||
        (attr->transpose_b ? b.rows : b.cols) != c.cols ||
        (attr->transpose_b ? b.cols : b.rows) != k) {
        return FAIL(ST_FAILED, "bmm %s: shapes do not fit", node->scope);
    }
    return ST_OK;
}

/* A causal product needs half of T^2, whatever the implementation computes. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const HeadMatrix c = head_matrix(plan_out(plan, node, 0), NULL, &node->attr);
    const double n = 2.0 * (double)c.count * (double)c.rows * (double)c.cols;
    return (OpCost){.flops = n * (double)inner(plan, node) * (node->attr.causal ? 0.5 : 1.0)};
}

static void product(Builder *b, const NodeAttr *like, int out, int left, bool transpose_left,
                    int right, bool transpose_right)
{
    NodeAttr *attr = builder_node(b, OP_bmm, IDS(out), IDS(left, right));
    *attr = *like;
    attr->transpose_a = transpose_left;
    attr->transpose_b = transpose_right;
}

static void grad(Builder *b, const Node *node)
{
    const int x = plan_in_id(b->plan, node, 0), y = plan_in_id(b->plan, node, 1);
    const int dc = builder_grad(b, plan_out_id(b->plan, node, 0));
    const NodeAttr like = node->attr;
    const bool ta = like.transpose_a, tb = like.transpose_b;
    const int dy = builder_grad_target(b, y), dx = builder_grad_target(b, x);
    if (tb) {
        product(b, &like, dy, dc, true, x, ta);
    } else {
        product(b, &like, dy, x, !ta, dc, false);
    }
    if (ta) {
        product(b, &like, dx, y, tb, dc, true);
    } else {
        product(b, &like, dx, dc, false, y, !tb);
    }
    builder_grad_add(b, y, dy);
    builder_grad_add(b, x, dx);
}

static Status reference(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix(op_out_shape(call, 0), op_out(call, 0), attr);
    const HeadMatrix a = head_matrix(op_in_shape(call, 0), op_in(call, 0), attr);
    const HeadMatrix b = head_matrix(op_in_shape(call, 1), op_in(call, 1), attr);
    const int64_t n_inner = inner(call->plan, call->node);
    for (int64_t m = 0; m < c.count; m++) {
        for (int64_t i = 0; i < c.rows; i++) {
            for (int64_t j = 0; j < c.cols; j++) {
                double sum = 0;
                for (int64_t k = 0; k < n_inner; k++) {
                    sum += head_matrix_get(&a, m, attr->transpose_a ? k : i,
                                           attr->transpose_a ? i : k) *
                           head_matrix_get(&b, m, attr->transpose_b ? j : k,
                                           attr->transpose_b ? k : j);
                }
                head_matrix_set(&c, m, i, j, sum * attr->scale);
            }
        }
    }
    return ST_OK;
}

const OpDef bmm_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};
