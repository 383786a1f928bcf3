/* Matrix product: c = op(a) op(b), where op transposes when attr.transpose_a / transpose_b is set.
 *
 * matmul  c | a, b        a linear layer is y = x w^T: transpose_b
 *
 * Operands are matrices of rows() x width(), rows ld elements apart. Sums are at least fp32. */
#include "ops/element.h"

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

static Status check(const Plan *plan, const Node *node)
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
    if (s.m > INT_MAX || s.n > INT_MAX || s.k > INT_MAX) {
        return FAIL(ST_UNSUPPORTED,
                    "%s: a product of %lld x %lld x %lld is beyond 31 bits a side: "
                    "choose a smaller batch or context",
                    node->scope, (long long)s.m, (long long)s.n, (long long)s.k);
    }
    return ST_OK;
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Sizes s = sizes(plan, node);
    return (OpCost){.flops = 2.0 * (double)s.m * (double)s.n * (double)s.k};
}

static void product(Builder *b, int out, int left, bool transpose_left, int right,
                    bool transpose_right)
{
    NodeAttr *attr = builder_node(b, OP_matmul, IDS(out), IDS(left, right));
    attr->transpose_a = transpose_left;
    attr->transpose_b = transpose_right;
}

/* With c = op(a) op(b):  d(op(a)) = dc op(b)^T,  d(op(b)) = op(a)^T dc. */
static void grad(Builder *b, const Node *node)
{
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int dc = builder_grad(b, plan_out_id(b->plan, node, 0));
    const bool ta = node->attr.transpose_a, tb = node->attr.transpose_b;
    if (builder_wants_grad(b, w)) {
        const int dw = builder_grad_target(b, w);
        if (tb) {
            product(b, dw, dc, true, x, ta);
        } else {
            product(b, dw, x, !ta, dc, false);
        }
        builder_grad_add(b, w, dw);
    }
    if (builder_wants_grad(b, x)) {
        const int dx = builder_grad_target(b, x);
        if (ta) {
            product(b, dx, w, tb, dc, true);
        } else {
            product(b, dx, dc, false, w, !tb);
        }
        builder_grad_add(b, x, dx);
    }
}

static Status reference(const OpCall *call)
{
    const Operand c = element_out(call, 0), a = element_in(call, 0), b = element_in(call, 1);
    const Sizes s = sizes(call->plan, call->node);
    const bool ta = call->node->attr.transpose_a, tb = call->node->attr.transpose_b;
    for (int64_t i = 0; i < s.m; i++) {
        for (int64_t j = 0; j < s.n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < s.k; k++) {
                sum += (ta ? at(a, k, i) : at(a, i, k)) * (tb ? at(b, j, k) : at(b, k, j));
            }
            put(c, i, j, sum);
        }
    }
    return ST_OK;
}

const OpDef matmul_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};
