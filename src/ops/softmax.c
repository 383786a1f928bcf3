/* Softmax over the last axis of attention scores:
 *
 *     p = exp(scale s - max) / sum            ds = scale p (dp - sum of dp p)
 *
 * softmax       p | s
 * softmax_grad  ds | dp, p
 *
 * attr.scale multiplies the scores. With attr.causal the matrices [T, T] one below the other are
 * lower triangles: row i uses columns 0..i, of these the last attr.window where that is not 0, and
 * the others become 0. Computed in fp32 whatever the dtypes. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "ops/visible_keys.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    const bool gradient = node->op == OP_softmax_grad;
    TRY(op_check_dense(plan, node, 1, gradient ? 2 : 1));
    const Tensor *out = plan_out(plan, node, 0), *s = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "result", out, plan_elements(s)));
    if (gradient) TRY(op_check_elements(node, "p", plan_in(plan, node, 1), plan_elements(s)));
    TRY(op_check_window(node));
    if (!node->attr.causal || plan_rows(s) % plan_width(s) == 0) return ST_OK;
    return FAIL(ST_FAILED, "softmax (%s): %lld rows of %lld columns are no square matrices",
                node->scope, (long long)plan_rows(s), (long long)plan_width(s));
}

/* Of the columns that count, over all rows. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *s = plan_in(plan, node, 0);
    const int64_t T = plan_width(s), rows = plan_rows(s);
    const double n = node->attr.causal ? (double)(rows / T) * visible_keys_pairs(&node->attr, T)
                                       : (double)plan_elements(s);
    return (OpCost){.flops = 5 * n};
}

static void grad(Builder *b, const Node *node)
{
    const int p = plan_out_id(b->plan, node, 0);
    op_rule_grad_input(b, node, OP_softmax_grad, node->attr, IDS(builder_grad(b, p), p));
}

static void decompose(Builder *b, const Node *node)
{
    const int p = plan_out_id(b->plan, node, 0), s = plan_in_id(b->plan, node, 0);
    const DType wide = op_full_dtype(builder_dtype(b, s));
    Tensor column = *builder_at(b, s);
    column.dim[column.n_dims - 1] = 1;

    int scores = builder_like(b, "scaled", s, wide);
    *builder_node(b, OP_unary, IDS(scores), IDS(s)) =
        (NodeAttr){.fn = FN_AFFINE, .scale = node->attr.scale};
    if (node->attr.causal) {
        const int masked = builder_like(b, "masked", s, wide);
        builder_node(b, OP_causal_mask, IDS(masked), IDS(scores))->window = node->attr.window;
        scores = masked;
    }
    const int max = builder_tensor(b, "max", TK_ACTIVATION, wide, column.n_dims, column.dim);
    const int sum = builder_tensor(b, "sum", TK_ACTIVATION, wide, column.n_dims, column.dim);
    const int shifted = builder_like(b, "scores-max", s, wide);
    const int powers = builder_like(b, "exp", s, wide);
    builder_node(b, OP_reduce, IDS(max), IDS(scores))->fn = FN_ROW_MAX;
    builder_node(b, OP_binary, IDS(shifted), IDS(scores, max))->fn = FN_SUB;
    builder_node(b, OP_unary, IDS(powers), IDS(shifted))->fn = FN_EXP;
    builder_node(b, OP_reduce, IDS(sum), IDS(powers))->fn = FN_ROW_SUM;
    const bool same = builder_dtype(b, p) == wide;
    const int quotient = same ? p : builder_like(b, "probabilities", s, wide);
    builder_node(b, OP_binary, IDS(quotient), IDS(powers, sum))->fn = FN_DIV;
    if (!same) builder_node(b, OP_cast, IDS(p), IDS(quotient));
}

/* The columns of a row that count: from `first` on, before `end`. */
typedef struct Columns {
    int64_t first, end;
} Columns;

static Columns columns(const OpCall *call, Operand x, int64_t row)
{
    const NodeAttr *attr = &call->node->attr;
    const int64_t i = row % x.cols;
    return (Columns){visible_keys_first(attr, i), visible_keys_end(attr, i, x.cols)};
}

static void put_zeros(Operand x, int64_t row, Columns seen)
{
    for (int64_t j = 0; j < seen.first; j++) put(x, row, j, 0);
    for (int64_t j = seen.end; j < x.cols; j++) put(x, row, j, 0);
}

static Status reference(const OpCall *call)
{
    const Operand p = element_out(call, 0), s = element_in(call, 0);
    const double scale = call->node->attr.scale;
    for (int64_t i = 0; i < s.rows; i++) {
        const Columns c = columns(call, s, i);
        double max = scale * at(s, i, c.first), sum = 0;
        for (int64_t j = c.first + 1; j < c.end; j++) max = fmax(max, scale * at(s, i, j));
        for (int64_t j = c.first; j < c.end; j++) sum += exp(scale * at(s, i, j) - max);
        for (int64_t j = c.first; j < c.end; j++)
            put(p, i, j, exp(scale * at(s, i, j) - max) / sum);
        put_zeros(p, i, c);
    }
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand ds = element_out(call, 0), dp = element_in(call, 0), p = element_in(call, 1);
    for (int64_t i = 0; i < p.rows; i++) {
        const Columns c = columns(call, p, i);
        double dot = 0;
        for (int64_t j = c.first; j < c.end; j++) dot += at(dp, i, j) * at(p, i, j);
        for (int64_t j = c.first; j < c.end; j++) {
            put(ds, i, j, call->node->attr.scale * at(p, i, j) * (at(dp, i, j) - dot));
        }
        put_zeros(ds, i, c);
    }
    return ST_OK;
}

/* In place when the dtypes agree: a row is read whole before it is written. */
const OpDef softmax_def = {
    OP_SOURCE,    .alias = {{0, 0}}, .n_aliases = 1,         .check = check,
    .cost = cost, .grad = grad,      .decompose = decompose, .reference = reference,
};

const OpDef softmax_grad_def = {
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .cost = cost,      .reference = reference_grad,
};
