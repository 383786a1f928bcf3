/* The products of attention, one for every sequence and head: c = scale op(a) op(b).
 *
 * bmm  c | a, b        attr.heads = H, attr.tokens = T, attr.head_dim = D or 0
 *
 * An operand of four dimensions [B, H, T, T] is a stack of scores. One of two dimensions [B T, H D]
 * holds the heads side by side: row t of head h starts at column h D (rows may be ld apart, so q, k
 * and v can be windows into one packed tensor). The gradient of such a product is two more.
 *
 * With attr.head_dim such an operand may have fewer heads, a number that divides H, each of which
 * serves a group of H's heads: where a or b has them (k, v), every product of the group reads the
 * same one; where c has them (dk, dv), it is the sum of the group's products, each an fp32 sum, added
 * in the order of the heads in fp32 and rounded once. */
#include "ops/head_matrix.h"
#include "ops/matmul.h"
#include "ops/op_check.h"
#include "ops/visible_keys.h"

#include <stdlib.h>

static int64_t inner(const Plan *plan, const Node *node)
{
    const HeadMatrix a = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    return node->attr.transpose_a ? a.rows : a.cols;
}

static Status check(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    TRY(op_check_present(plan, node, 1, 2));
    TRY(op_check_window(node));
    for (int i = 0; i < 3; i++) {
        const Tensor *t = i ? plan_in(plan, node, i - 1) : plan_out(plan, node, 0);
        if (t->n_dims != 4) TRY(op_check_heads(node, t));
    }
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

/* Of the pairs of a query and a key that are visible, whatever the implementation computes. One of
 * the three sides is D, the others are T. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const HeadMatrix c = head_matrix(plan_out(plan, node, 0), NULL, &node->attr);
    const int64_t D = c.cols * inner(plan, node) / c.rows;
    const double pairs = visible_keys_pairs(&node->attr, c.rows);
    return (OpCost){.flops = 2.0 * (double)c.count * pairs * (double)D};
}

/* c = the sum of the products of a group's heads, from `first` on, in double. */
static Status multiply_group(const NodeAttr *attr, Operand c, const HeadMatrix *a,
                             const HeadMatrix *b, int64_t first, int64_t group)
{
    const Operand sum = {calloc((size_t)(c.rows * c.cols), sizeof(double)), DT_F64, c.rows, c.cols,
                         c.cols};
    NodeAttr add = *attr;
    add.accumulate = true;
    if (!sum.data) return NO_MEMORY("for one head");
    for (int64_t m = first; m < first + group; m++) {
        matmul_multiply(sum, head_matrix_operand(a, m, 0), head_matrix_operand(b, m, 0),
                        (Operand){0}, &add, attr->scale);
    }
    for (int64_t i = 0; i < c.rows * c.cols; i++)
        put(c, i / c.cols, i % c.cols, at(sum, i / c.cols, i % c.cols));
    free(sum.data);
    return ST_OK;
}

static Status reference(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const HeadMatrix c = head_matrix_out(call, 0);
    const HeadMatrix a = head_matrix_in(call, 0), b = head_matrix_in(call, 1);
    for (int64_t i = 0; i < c.count; i += c.group) {
        TRY(multiply_group(attr, head_matrix_operand(&c, i, 0), &a, &b, i, c.group));
    }
    return ST_OK;
}

const OpDef bmm_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = matmul_grad, .reference = reference,
};
