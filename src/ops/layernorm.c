/* LayerNorm, with the residual addition before it:
 *
 *     s = x + delta      m = mean(s)      r = 1 / sqrt(mean((s - m)^2) + eps)      y = w (s - m) r + b
 *
 * layernorm       y, m, r, s | x, w, b, delta       without delta: s absent, s = x
 * layernorm_grad  dx, ddelta, dw, db | dy, s, w, m, r, ds
 *
 * ds is what flows into s from the residual stream (absent after the last norm). With
 * n = (s - m) r and g = dy w:
 *     dx = ds + r (g - mean(g) - n mean(g n))      dw = sum over rows of dy n      db = sum over rows of dy
 * ddelta is a second copy of dx in delta's dtype; it is absent where dx itself can serve. eps is
 * attr.shift. y may be 16 bit; s, m, r and all sums are fp32. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0);
    for (int i = 1; i <= 2; i++) {
        const Tensor *w = plan_in(plan, node, i);
        if (plan_elements(w) == plan_width(x)) continue;
        return FAIL(ST_FAILED, "layernorm: '%s' has %lld elements, a row %lld", w->name,
                    (long long)plan_elements(w), (long long)plan_width(x));
    }
    return op_check_contiguous(plan, node);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    const Tensor *dy = plan_in(plan, node, 0), *s = plan_in(plan, node, 1);
    if (plan_elements(dy) != plan_elements(s))
        return FAIL(ST_FAILED, "layernorm_grad: dy and s differ");
    return op_check_contiguous(plan, node);
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), m = plan_out_id(b->plan, node, 1);
    const int r = plan_out_id(b->plan, node, 2), s = plan_out_id(b->plan, node, 3);
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int bias = plan_in_id(b->plan, node, 2), delta = plan_in_id(b->plan, node, 3);
    const double eps = node->attr.shift;

    const int dx = builder_grad_target(b, x), dw = builder_grad_target(b, w);
    const int db = builder_grad_target(b, bias);
    const bool two = delta != PLAN_NONE && builder_dtype(b, delta) != builder_dtype(b, x);
    const int ddelta = two ? builder_grad_target(b, delta) : PLAN_NONE;
    const int dy = builder_grad(b, y), ds = builder_grad(b, s);
    builder_node(b, OP_layernorm_grad, IDS(dx, ddelta, dw, db),
                 IDS(dy, s == PLAN_NONE ? x : s, w, m, r, ds))
        ->shift = eps;
    builder_grad_add(b, x, dx);
    builder_grad_add(b, w, dw);
    builder_grad_add(b, bias, db);
    if (delta != PLAN_NONE) builder_grad_add(b, delta, two ? ddelta : dx);
}

/* y = n w + b, rounded once. */
static void weigh(Builder *b, int y, int normalized, int w, int bias)
{
    const DType wide = builder_dtype(b, normalized);
    const int weighted = builder_like(b, "weighted", normalized, wide);
    builder_node(b, OP_binary, IDS(weighted), IDS(normalized, w))->fn = FN_MUL;
    const bool same = builder_dtype(b, y) == wide;
    const int shifted = same ? y : builder_like(b, "weighted+bias", normalized, wide);
    builder_node(b, OP_binary, IDS(shifted), IDS(weighted, bias))->fn = FN_ADD;
    if (!same) builder_node(b, OP_cast, IDS(y), IDS(shifted));
}

static void decompose(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), m = plan_out_id(b->plan, node, 1);
    const int r = plan_out_id(b->plan, node, 2), s_out = plan_out_id(b->plan, node, 3);
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int bias = plan_in_id(b->plan, node, 2), delta = plan_in_id(b->plan, node, 3);
    const double eps = node->attr.shift;
    const DType wide = builder_dtype(b, x);

    if (delta != PLAN_NONE) builder_node(b, OP_binary, IDS(s_out), IDS(x, delta))->fn = FN_ADD;
    const int s = delta == PLAN_NONE ? x : s_out;
    const int centered = builder_like(b, "centered", s, wide);
    const int square = builder_like(b, "square", s, wide);
    const int variance = builder_like(b, "variance", r, wide);
    const int shifted = builder_like(b, "variance+eps", r, wide);
    const int normalized = builder_like(b, "normalized", s, wide);
    builder_node(b, OP_reduce, IDS(m), IDS(s))->fn = FN_ROW_MEAN;
    builder_node(b, OP_binary, IDS(centered), IDS(s, m))->fn = FN_SUB;
    builder_node(b, OP_unary, IDS(square), IDS(centered))->fn = FN_SQUARE;
    builder_node(b, OP_reduce, IDS(variance), IDS(square))->fn = FN_ROW_MEAN;
    *builder_node(b, OP_unary, IDS(shifted), IDS(variance)) =
        (NodeAttr){.fn = FN_AFFINE, .scale = 1, .shift = eps};
    builder_node(b, OP_unary, IDS(r), IDS(shifted))->fn = FN_RSQRT;
    builder_node(b, OP_binary, IDS(normalized), IDS(centered, r))->fn = FN_MUL;
    weigh(b, y, normalized, w, bias);
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), m = element_out(call, 1), r = element_out(call, 2);
    const Operand sum = element_out(call, 3), x = element_in(call, 0), w = element_in(call, 1);
    const Operand bias = element_in(call, 2), delta = element_in(call, 3);
    const Operand s = sum.data ? sum : x;
    for (int64_t i = 0; i < x.rows; i++) {
        double total = 0, squares = 0;
        for (int64_t j = 0; j < x.cols; j++) {
            if (sum.data) put(sum, i, j, at(x, i, j) + at(delta, i, j));
            total += at(s, i, j);
        }
        const double mean = total / (double)x.cols;
        for (int64_t j = 0; j < x.cols; j++) squares += pow(at(s, i, j) - mean, 2);
        const double rstd = 1 / sqrt(squares / (double)x.cols + call->node->attr.shift);
        put(m, i, 0, mean);
        put(r, i, 0, rstd);
        for (int64_t j = 0; j < x.cols; j++)
            put(y, i, j, (at(s, i, j) - mean) * rstd * at(w, 0, j) + at(bias, 0, j));
    }
    return ST_OK;
}

static void reference_grad_columns(const OpCall *call)
{
    const Operand dw = element_out(call, 2), db = element_out(call, 3);
    const Operand dy = element_in(call, 0), s = element_in(call, 1);
    const Operand m = element_in(call, 3), r = element_in(call, 4);
    for (int64_t j = 0; j < s.cols; j++) {
        double weight = 0, bias = 0;
        for (int64_t i = 0; i < s.rows; i++) {
            weight += at(dy, i, j) * (at(s, i, j) - at(m, i, 0)) * at(r, i, 0);
            bias += at(dy, i, j);
        }
        put(dw, 0, j, weight);
        put(db, 0, j, bias);
    }
}

static Status reference_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), ddelta = element_out(call, 1);
    const Operand dy = element_in(call, 0), s = element_in(call, 1), w = element_in(call, 2);
    const Operand m = element_in(call, 3), r = element_in(call, 4), ds = element_in(call, 5);
    reference_grad_columns(call);
    for (int64_t i = 0; i < s.rows; i++) {
        const double mean = at(m, i, 0), rstd = at(r, i, 0), n = (double)s.cols;
        double sum = 0, dot = 0;
        for (int64_t j = 0; j < s.cols; j++) {
            const double g = at(dy, i, j) * at(w, 0, j);
            sum += g;
            dot += g * (at(s, i, j) - mean) * rstd;
        }
        for (int64_t j = 0; j < s.cols; j++) {
            const double g = at(dy, i, j) * at(w, 0, j), normal = (at(s, i, j) - mean) * rstd;
            const double flow = ds.data ? at(ds, i, j) : 0;
            const double d = flow + rstd * (g - sum / n - normal * dot / n);
            put(dx, i, j, d);
            if (ddelta.data) put(ddelta, i, j, d);
        }
    }
    return ST_OK;
}

const OpDef layernorm_def = {
    OP_SOURCE,    .auxiliary = 1U << 1 | 1U << 2, .check = check,         .flops_in = 7,
    .grad = grad, .decompose = decompose,         .reference = reference,
};

/* dx may overwrite ds: each element is read before it is written. */
const OpDef layernorm_grad_def = {
    OP_SOURCE,           .alias = {{0, 5}}, .n_aliases = 1,
    .check = check_grad, .flops_in = 14,    .reference = reference_grad,
};
