/* The products of attention, one for every sequence and head: c = scale op(a) op(b).
 *
 * bmm  c | a, b        attr.heads = H, attr.tokens = T
 *
 * An operand of four dimensions [B, H, T, T] is a stack of scores. One of two dimensions [B T, H D]
 * holds the heads side by side: row t of head h starts at column h D (rows may be ld apart, so q, k
 * and v can be windows into one packed tensor). The gradient of such a product is two more. */
#include "ops/head_matrix.h"
#include "ops/matmul.h"

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

static Status reference(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix_out(call, 0);
    const HeadMatrix a = head_matrix_in(call, 0), b = head_matrix_in(call, 1);
    for (int64_t i = 0; i < c.count; i++) {
        matmul_multiply(head_matrix_operand(&c, i, 0), head_matrix_operand(&a, i, 0),
                        head_matrix_operand(&b, i, 0), attr, attr->scale);
    }
    return ST_OK;
}

const OpDef bmm_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = matmul_grad, .reference = reference,
};
