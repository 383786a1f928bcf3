/* Matrix product: c = op(a) op(b), where op transposes when attr.transpose_a / transpose_b is set.
 *
 * matmul  c | a, b, bias, c
 *
 * A linear layer is y = x w^T: transpose_b. The last two inputs are optional: bias [n] is added to
 * every row; with attr.accumulate the product is added to c, which then is an input as well.
 *
 * Operands are matrices of rows() x width(), rows ld elements apart. Sums are at least fp32, and
 * rounded once. What is accumulated has no gradient: only gradients are. */
#include "ops/matmul.h"

#include "plan/op_functions.h"

#include <limits.h>

typedef struct Sizes {
    int64_t m, n, k;
} Sizes;

static Sizes sizes(const Plan *plan, const Node *node)
{
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0);
    return (Sizes){plan_rows(c), plan_width(c),
                   node->attr.transpose_a ? plan_rows(a) : plan_width(a)};
}

static Status check_bias(const Node *node, const Tensor *bias, int64_t n)
{
    if (!bias || (plan_rows(bias) == 1 && plan_width(bias) == n)) return ST_OK;
    return FAIL(ST_FAILED, "matmul %s: a bias of %lldx%lld for rows of %lld", node->scope,
                (long long)plan_rows(bias), (long long)plan_width(bias), (long long)n);
}

/* c is an input as well, so that its memory is kept and its bytes are counted. */
static Status check_accumulated(const Plan *plan, const Node *node, int input)
{
    const int c = node->attr.accumulate ? plan_out_id(plan, node, 0) : PLAN_NONE;
    if (plan_in_id(plan, node, input) == c) return ST_OK;
    return FAIL(ST_FAILED, "matmul %s: %s input %d%s", node->scope,
                node->attr.accumulate ? "accumulates, and" : "does not accumulate, and has", input,
                node->attr.accumulate ? " is not its output" : "");
}

Status matmul_check(const Plan *plan, const Node *node, int bias, int c)
{
    const Tensor *a = plan_in(plan, node, 0), *b = plan_in(plan, node, 1);
    const Sizes s = sizes(plan, node);
    const int64_t a_rows = node->attr.transpose_a ? s.k : s.m;
    const int64_t b_rows = node->attr.transpose_b ? s.n : s.k;
    if (plan_rows(a) != a_rows || plan_rows(b) != b_rows || plan_elements(b) != s.n * s.k) {
        return FAIL(ST_FAILED, "matmul %s: shapes %lldx%lld and %lldx%lld do not give %lldx%lld",
                    node->scope, (long long)plan_rows(a), (long long)plan_width(a),
                    (long long)plan_rows(b), (long long)plan_width(b), (long long)s.m,
                    (long long)s.n);
    }
    TRY(check_bias(node, plan_in(plan, node, bias), s.n));
    TRY(check_accumulated(plan, node, c));
    if (s.m > INT_MAX || s.n > INT_MAX || s.k > INT_MAX) {
        return FAIL(ST_UNSUPPORTED,
                    "%s: a product of %lld x %lld x %lld is beyond 31 bits a side: "
                    "choose a smaller batch or context",
                    node->scope, (long long)s.m, (long long)s.n, (long long)s.k);
    }
    return ST_OK;
}

static Status check(const Plan *plan, const Node *node)
{
    return matmul_check(plan, node, MATMUL_IN_BIAS, MATMUL_IN_C);
}

/* Of a product: nobody counts the additions of a bias, and bytes are those of all operands. */
OpCost matmul_cost(const Plan *plan, const Node *node)
{
    const Sizes s = sizes(plan, node);
    return (OpCost){.flops = 2.0 * (double)s.m * (double)s.n * (double)s.k};
}

/* d(x) = op(left) op(right), by a node as `like`. */
static void grad_of(Builder *b, const Node *like, int x, int left, bool transpose_left, int right,
                    bool transpose_right)
{
    if (!builder_wants_grad(b, x)) return;
    const int dx = builder_grad_target(b, x);
    NodeAttr *attr = builder_node(b, like->op, IDS(dx), IDS(left, right));
    *attr = like->attr;
    attr->transpose_a = transpose_left;
    attr->transpose_b = transpose_right;
    builder_grad_add(b, x, dx);
}

/* First of all: what has just written dc has left it in a cache. */
static void grad_bias(Builder *b, const Node *node, int dc)
{
    const int bias = plan_in_id(b->plan, node, MATMUL_IN_BIAS);
    if (!builder_wants_grad(b, bias)) return;
    const int dbias = builder_grad_target(b, bias);
    builder_node(b, OP_reduce, IDS(dbias), IDS(dc))->fn = FN_COL_SUM;
    builder_grad_add(b, bias, dbias);
}

/* With c = op(a) op(b) + bias:  d(op(a)) = dc op(b)^T,  d(op(b)) = op(a)^T dc,  d(bias) = the sums of
 * dc's columns. */
void matmul_grad(Builder *b, const Node *node)
{
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int dc = builder_grad(b, plan_out_id(b->plan, node, 0));
    const bool ta = node->attr.transpose_a, tb = node->attr.transpose_b;
    if (node->attr.accumulate) {
        b->status = FAIL(ST_UNSUPPORTED,
                         "%s: what accumulates in place has no gradient: add with a binary node",
                         node->scope);
        return;
    }
    grad_bias(b, node, dc);
    if (tb) {
        grad_of(b, node, w, dc, true, x, ta);
    } else {
        grad_of(b, node, w, x, !ta, dc, false);
    }
    if (ta) {
        grad_of(b, node, x, w, tb, dc, true);
    } else {
        grad_of(b, node, x, dc, false, w, !tb);
    }
}

void matmul_multiply(Operand c, Operand a, Operand b, Operand bias, const NodeAttr *attr,
                     double scale)
{
    const bool ta = attr->transpose_a, tb = attr->transpose_b;
    const int64_t n = ta ? a.rows : a.cols;
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t j = 0; j < c.cols; j++) {
            double sum = 0;
            const double before =
                (attr->accumulate ? at(c, i, j) : 0) + (bias.data ? at(bias, 0, j) : 0);
            for (int64_t k = 0; k < n; k++) {
                sum += (ta ? at(a, k, i) : at(a, i, k)) * (tb ? at(b, j, k) : at(b, k, j));
            }
            put(c, i, j, before + sum * scale);
        }
    }
}

static Status reference(const OpCall *call)
{
    matmul_multiply(element_out(call, 0), element_in(call, 0), element_in(call, 1),
                    element_in(call, MATMUL_IN_BIAS), &call->node->attr, 1);
    return ST_OK;
}

const OpDef matmul_def = {
    OP_SOURCE, .check = check, .cost = matmul_cost, .grad = matmul_grad, .reference = reference,
};
