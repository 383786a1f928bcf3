/* RMSNorm, with the residual addition before it:
 *
 *     s = x + delta            r = 1 / sqrt(mean(s^2) + eps)            y = w * s * r
 *
 * rmsnorm       y, r, s | x, w, delta       without delta: s absent, s = x
 * rmsnorm_grad  dx, ddelta, dw | dy, s, w, r, ds
 *
 * ds is what flows into s from the residual stream (absent after the last norm). With g = dy * w:
 *     dx = ds + r g - s r^3 mean(g s)        dw = sum over rows of dy s r        ddelta = dx
 * ddelta is a second copy in delta's dtype; it is absent where dx itself can serve.
 * eps is attr.shift. y may be 16 bit; s, r and all sums are fp32. */
#include "ops/element.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0), *w = plan_in(plan, node, 1);
    if (plan_elements(w) != plan_width(x)) {
        return FAIL(ST_FAILED, "rmsnorm: weight has %lld elements, a row %lld",
                    (long long)plan_elements(w), (long long)plan_width(x));
    }
    return ST_OK;
}

static Status check_grad(const Plan *plan, const Node *node)
{
    const Tensor *dy = plan_in(plan, node, 0), *s = plan_in(plan, node, 1);
    if (plan_elements(dy) != plan_elements(s))
        return FAIL(ST_FAILED, "rmsnorm_grad: dy and s differ");
    return ST_OK;
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), r = plan_out_id(b->plan, node, 1);
    const int s = plan_out_id(b->plan, node, 2);
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int delta = plan_in_id(b->plan, node, 2);

    const int dx = builder_grad_target(b, x), dw = builder_grad_target(b, w);
    const bool two = delta != PLAN_NONE && builder_dtype(b, delta) != builder_dtype(b, x);
    const int ddelta = two ? builder_grad_target(b, delta) : PLAN_NONE;
    const int dy = builder_grad(b, y), ds = builder_grad(b, s);
    builder_node(b, OP_rmsnorm_grad, IDS(dx, ddelta, dw), IDS(dy, s == PLAN_NONE ? x : s, w, r, ds))
        ->shift = node->attr.shift;
    builder_grad_add(b, x, dx);
    builder_grad_add(b, w, dw);
    if (delta != PLAN_NONE) builder_grad_add(b, delta, two ? ddelta : dx);
}

static void decompose(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), r = plan_out_id(b->plan, node, 1);
    const int s_out = plan_out_id(b->plan, node, 2);
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const int delta = plan_in_id(b->plan, node, 2);
    const DType wide = builder_dtype(b, x);

    int s = x;
    if (delta != PLAN_NONE) {
        builder_node(b, OP_binary, IDS(s_out), IDS(x, delta))->fn = FN_ADD;
        s = s_out;
    }
    const int square = builder_like(b, "square", s, wide);
    const int mean = builder_like(b, "mean", r, wide),
              shifted = builder_like(b, "mean+eps", r, wide);
    const int scaled = builder_like(b, "normalized", s, wide);
    builder_node(b, OP_unary, IDS(square), IDS(s))->fn = FN_SQUARE;
    builder_node(b, OP_reduce, IDS(mean), IDS(square))->fn = FN_ROW_MEAN;
    NodeAttr *affine = builder_node(b, OP_unary, IDS(shifted), IDS(mean));
    *affine = (NodeAttr){.fn = FN_AFFINE, .scale = 1, .shift = node->attr.shift};
    builder_node(b, OP_unary, IDS(r), IDS(shifted))->fn = FN_RSQRT;
    builder_node(b, OP_binary, IDS(scaled), IDS(s, r))->fn = FN_MUL;
    if (builder_dtype(b, y) == wide) {
        builder_node(b, OP_binary, IDS(y), IDS(scaled, w))->fn = FN_MUL;
    } else {
        const int product = builder_like(b, "weighted", s, wide);
        builder_node(b, OP_binary, IDS(product), IDS(scaled, w))->fn = FN_MUL;
        builder_node(b, OP_cast, IDS(y), IDS(product));
    }
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), r = element_out(call, 1), s = element_out(call, 2);
    const Operand x = element_in(call, 0), w = element_in(call, 1), delta = element_in(call, 2);
    for (int64_t i = 0; i < x.rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < x.cols; j++) {
            if (s.data) put(s, i, j, at(x, i, j) + at(delta, i, j));
            const double v = at(s.data ? s : x, i, j);
            sum += v * v;
        }
        const double rstd = 1 / sqrt(sum / (double)x.cols + call->node->attr.shift);
        put(r, i, 0, rstd);
        for (int64_t j = 0; j < x.cols; j++) {
            put(y, i, j, at(s.data ? s : x, i, j) * rstd * at(w, 0, j));
        }
    }
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), ddelta = element_out(call, 1),
                  dw = element_out(call, 2);
    const Operand dy = element_in(call, 0), s = element_in(call, 1), w = element_in(call, 2);
    const Operand r = element_in(call, 3), ds = element_in(call, 4);
    for (int64_t j = 0; j < s.cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < s.rows; i++) sum += at(dy, i, j) * at(s, i, j) * at(r, i, 0);
        put(dw, 0, j, sum);
    }
    for (int64_t i = 0; i < s.rows; i++) {
        const double rstd = at(r, i, 0);
        double dot = 0;
        for (int64_t j = 0; j < s.cols; j++) dot += at(dy, i, j) * at(w, 0, j) * at(s, i, j);
        const double k = dot / (double)s.cols * rstd * rstd * rstd;
        for (int64_t j = 0; j < s.cols; j++) {
            const double flow = ds.data ? at(ds, i, j) : 0;
            const double d = flow + at(dy, i, j) * at(w, 0, j) * rstd - at(s, i, j) * k;
            put(dx, i, j, d);
            if (ddelta.data) put(ddelta, i, j, d);
        }
    }
    return ST_OK;
}

const OpDef rmsnorm_def = {
    OP_SOURCE,    .auxiliary = 1U << 1,   .check = check,         .flops_in = 4,
    .grad = grad, .decompose = decompose, .reference = reference,
};

/* dx may overwrite ds: each element is read before it is written. */
const OpDef rmsnorm_grad_def = {
    OP_SOURCE,           .alias = {{0, 4}}, .n_aliases = 1,
    .check = check_grad, .flops_in = 10,    .reference = reference_grad,
};
