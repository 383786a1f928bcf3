/* Products of each expert's rows and its own matrix (experts.h):
 *
 *     grouped_matmul       c | a, b, first      c[r] = a[r] op(b_e)
 *     grouped_matmul_grad  db | dc, a, first    db_e = dc_e^T a_e, of its rows
 *
 * for the rows r from first[e] to first[e + 1]. b holds E matrices, one after the other; op transposes
 * them where attr.transpose_b is set, as in a linear layer. The matrix of an expert without rows has the
 * gradient 0. Sums are at least fp32, and rounded once. */
#include "ops/element.h"
#include "ops/experts/experts.h"
#include "ops/op_check.h"

#include <limits.h>

enum { IN_FIRST = 2 };

/* Rows of one expert's matrix. */
static int64_t rows_of_each(const Tensor *matrices, const Tensor *first)
{
    return plan_rows(matrices) / (plan_elements(first) - 1);
}

static Status wrong(const Node *node, const Tensor *a, const Tensor *b, const Tensor *c)
{
    return FAIL(ST_FAILED, "%s (%s): shapes %lldx%lld and %lldx%lld do not give %lldx%lld",
                plan_op_name(node->op), node->scope, (long long)plan_rows(a),
                (long long)plan_width(a), (long long)plan_rows(b), (long long)plan_width(b),
                (long long)plan_rows(c), (long long)plan_width(c));
}

static Status check(const Plan *plan, const Node *node)
{
    const bool gradient = node->op == OP_grouped_matmul_grad;
    TRY(op_check_dense(plan, node, 1, 3));
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0),
                 *b = plan_in(plan, node, 1);
    const Tensor *matrices = gradient ? c : b, *first = plan_in(plan, node, IN_FIRST);
    const int64_t experts = plan_elements(first) - 1;
    TRY(op_check_dtype(node, "first", first, DT_I32));
    if (experts < 1 || plan_rows(matrices) % experts != 0) return wrong(node, a, b, c);
    const int64_t rows = rows_of_each(matrices, first), width = plan_width(matrices);
    const bool fits =
        gradient ? plan_rows(a) == plan_rows(b) && plan_width(a) == rows && plan_width(b) == width
        : node->attr.transpose_b
            ? plan_rows(a) == plan_rows(c) && plan_width(a) == width && plan_width(c) == rows
            : plan_rows(a) == plan_rows(c) && plan_width(a) == rows && plan_width(c) == width;
    if (!fits) return wrong(node, a, b, c);
    if (plan_rows(a) <= INT_MAX && rows <= INT_MAX && width <= INT_MAX) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "%s: a product is beyond 31 bits a side: choose a smaller batch or context",
                node->scope);
}

/* Of the rows that there are: each goes through one matrix. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const bool gradient = node->op == OP_grouped_matmul_grad;
    const Tensor *c = plan_out(plan, node, 0), *a = plan_in(plan, node, 0),
                 *b = plan_in(plan, node, 1);
    const int64_t other = gradient ? plan_width(b) : plan_width(c);
    return (OpCost){.flops = 2.0 * (double)plan_rows(a) * (double)plan_width(a) * (double)other};
}

static void grad(Builder *b, const Node *node)
{
    const int a = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int first = plan_in_id(b->plan, node, IN_FIRST);
    const int dc = builder_grad(b, plan_out_id(b->plan, node, 0));
    const bool transposed = node->attr.transpose_b;
    if (builder_wants_grad(b, w)) {
        const int dw = builder_grad_target(b, w);
        builder_node(b, OP_grouped_matmul_grad, IDS(dw),
                     transposed ? (const int[]){dc, a, first} : (const int[]){a, dc, first}, 3);
        builder_grad_add(b, w, dw);
    }
    if (!builder_wants_grad(b, a)) return;
    const int da = builder_grad_target(b, a);
    builder_node(b, OP_grouped_matmul, IDS(da), IDS(dc, w, first))->transpose_b = !transposed;
    builder_grad_add(b, a, da);
}

static Status reference(const OpCall *call)
{
    const Operand c = element_out(call, 0), a = element_in(call, 0), b = element_in(call, 1);
    const int32_t *first = op_in(call, IN_FIRST);
    const int64_t rows = rows_of_each(op_in_shape(call, 1), op_in_shape(call, IN_FIRST));
    const bool transposed = call->node->attr.transpose_b;
    for (int64_t r = 0, e = 0; r < c.rows; r++) {
        while (r >= first[e + 1]) e++;
        for (int64_t j = 0; j < c.cols; j++) {
            double sum = 0;
            for (int64_t k = 0; k < a.cols; k++)
                sum += at(a, r, k) * (transposed ? at(b, e * rows + j, k) : at(b, e * rows + k, j));
            put(c, r, j, sum);
        }
    }
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand db = element_out(call, 0), dc = element_in(call, 0), a = element_in(call, 1);
    const int32_t *first = op_in(call, IN_FIRST);
    const int64_t rows = rows_of_each(op_out_shape(call, 0), op_in_shape(call, IN_FIRST));
    for (int64_t i = 0; i < db.rows; i++) {
        const int64_t e = i / rows;
        for (int64_t j = 0; j < db.cols; j++) {
            double sum = 0;
            for (int64_t r = first[e]; r < first[e + 1]; r++)
                sum += at(dc, r, i % rows) * at(a, r, j);
            put(db, i, j, sum);
        }
    }
    return ST_OK;
}

const OpDef grouped_matmul_def = {
    OP_SOURCE, .check = check, .cost = cost, .grad = grad, .reference = reference,
};

const OpDef grouped_matmul_grad_def = {
    OP_SOURCE,
    .check = check,
    .cost = cost,
    .reference = reference_grad,
};
