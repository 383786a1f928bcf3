/* RMSNorm of every head of q or of k, all heads with the same weight:
 *
 *     r = 1 / sqrt(mean(x^2) + eps)            y = w * x * r            over the D columns of a head
 *
 * head_norm       y, r | x, w
 * head_norm_grad  dx, dw | dy, x, w, r
 *
 * x is [N, H D] with heads side by side, rows may be ld apart; w is [D]; r is [N, H]. H is
 * attr.heads. With g = dy w:
 *     dx = r g - x r^3 mean(g x)            dw = sum over rows and heads of dy x r
 * eps is attr.shift. x, y and their gradients may be 16 bit; w, r and all sums are fp32. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

#include <math.h>

static Status check_heads(const Node *node, const Tensor *x, const Tensor *w, const Tensor *r)
{
    const int64_t H = node->attr.heads;
    if (H <= 0 || plan_width(x) != H * plan_elements(w))
        return FAIL(ST_FAILED, "%s: rows of %lld columns are not %lld heads of %lld", node->scope,
                    (long long)plan_width(x), (long long)H, (long long)plan_elements(w));
    return op_check_elements(node, "r", r, plan_rows(x) * H);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 2, 2));
    const Tensor *x = plan_in(plan, node, 0);
    TRY(op_check_elements(node, "y", plan_out(plan, node, 0), plan_elements(x)));
    return check_heads(node, x, plan_in(plan, node, 1), plan_out(plan, node, 1));
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 2, 4));
    const Tensor *x = plan_in(plan, node, 1);
    TRY(op_check_elements(node, "dy", plan_in(plan, node, 0), plan_elements(x)));
    TRY(op_check_elements(node, "dx", plan_out(plan, node, 0), plan_elements(x)));
    return check_heads(node, x, plan_in(plan, node, 2), plan_in(plan, node, 3));
}

static void grad(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), r = plan_out_id(b->plan, node, 1);
    const int x = plan_in_id(b->plan, node, 0), w = plan_in_id(b->plan, node, 1);
    const NodeAttr attr = node->attr;
    const int dx = builder_grad_target(b, x), dw = builder_grad_target(b, w);
    *builder_node(b, OP_head_norm_grad, IDS(dx, dw), IDS(builder_grad(b, y), x, w, r)) = attr;
    builder_grad_add(b, x, dx);
    builder_grad_add(b, w, dw);
}

/* x as [N, H, D] in full precision: a window into x, or into a copy where x is narrow or itself a
 * window (gradients meet in the tensor that a window is of). */
static int wide_heads(Builder *b, int x, int64_t H)
{
    const DType wide = op_full_dtype(builder_dtype(b, x));
    int from = x;
    if (builder_dtype(b, x) != wide || builder_at(b, x)->base != PLAN_NONE) {
        from = builder_like(b, "wide", x, wide);
        builder_node(b, OP_cast, IDS(from), IDS(x));
    }
    const int64_t N = plan_rows(builder_at(b, from)), D = plan_width(builder_at(b, from)) / H;
    return builder_view(b, "heads", from, 0, DIMS(N, H, D), D);
}

static void decompose(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), r = plan_out_id(b->plan, node, 1);
    const int w = plan_in_id(b->plan, node, 1);
    const double eps = node->attr.shift;
    const int heads = wide_heads(b, plan_in_id(b->plan, node, 0), node->attr.heads);
    const DType wide = builder_dtype(b, heads);
    const int64_t N = builder_at(b, heads)->dim[0], H = builder_at(b, heads)->dim[1];
    const int square = builder_like(b, "square", heads, wide);
    const int mean = builder_tensor(b, "mean", TK_ACTIVATION, wide, DIMS(N, H, 1));
    const int shifted = builder_like(b, "mean+eps", mean, wide);
    const int each = builder_view(b, "r of each head", r, 0, DIMS(N, H, 1), 1);
    const int normalized = builder_like(b, "normalized", heads, wide);
    builder_node(b, OP_unary, IDS(square), IDS(heads))->fn = FN_SQUARE;
    builder_node(b, OP_reduce, IDS(mean), IDS(square))->fn = FN_ROW_MEAN;
    *builder_node(b, OP_unary, IDS(shifted), IDS(mean)) =
        (NodeAttr){.fn = FN_AFFINE, .scale = 1, .shift = eps};
    builder_node(b, OP_unary, IDS(r), IDS(shifted))->fn = FN_RSQRT;
    builder_node(b, OP_binary, IDS(normalized), IDS(heads, each))->fn = FN_MUL;
    const bool same = builder_dtype(b, y) == wide;
    const int weighted = same ? y : builder_like(b, "weighted", heads, wide);
    builder_node(b, OP_binary, IDS(weighted), IDS(normalized, w))->fn = FN_MUL;
    if (!same) builder_node(b, OP_cast, IDS(y), IDS(weighted));
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0), w = element_in(call, 1);
    const Tensor *r = op_out_shape(call, 1);
    const int64_t H = call->node->attr.heads, D = x.cols / H;
    for (int64_t head = 0; head < x.rows * H; head++) {
        const int64_t i = head / H, first = head % H * D;
        double sum = 0;
        for (int64_t j = 0; j < D; j++) sum += at(x, i, first + j) * at(x, i, first + j);
        const double rstd = 1 / sqrt(sum / (double)D + call->node->attr.shift);
        element_set(op_out(call, 1), r->dtype, head, rstd);
        for (int64_t j = 0; j < D; j++)
            put(y, i, first + j, at(x, i, first + j) * rstd * at(w, 0, j));
    }
    return ST_OK;
}

static double reference_weight_grad(const OpCall *call, int64_t column)
{
    const Operand dy = element_in(call, 0), x = element_in(call, 1);
    const Tensor *r = op_in_shape(call, 3);
    const int64_t H = call->node->attr.heads, D = x.cols / H;
    double sum = 0;
    for (int64_t head = 0; head < x.rows * H; head++) {
        const int64_t i = head / H, j = head % H * D + column;
        sum += at(dy, i, j) * at(x, i, j) * element_get(op_in(call, 3), r->dtype, head);
    }
    return sum;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dx = element_out(call, 0), dw = element_out(call, 1);
    const Operand dy = element_in(call, 0), x = element_in(call, 1), w = element_in(call, 2);
    const Tensor *r = op_in_shape(call, 3);
    const int64_t H = call->node->attr.heads, D = x.cols / H;
    for (int64_t j = 0; j < D; j++) put(dw, 0, j, reference_weight_grad(call, j));
    for (int64_t head = 0; head < x.rows * H; head++) {
        const int64_t i = head / H, first = head % H * D;
        const double rstd = element_get(op_in(call, 3), r->dtype, head);
        double dot = 0;
        for (int64_t j = 0; j < D; j++)
            dot += at(dy, i, first + j) * at(w, 0, j) * at(x, i, first + j);
        const double k = dot / (double)D * rstd * rstd * rstd;
        for (int64_t j = first; j < first + D; j++)
            put(dx, i, j, at(dy, i, j) * at(w, 0, j - first) * rstd - at(x, i, j) * k);
    }
    return ST_OK;
}

const OpDef head_norm_def = {
    OP_SOURCE,    .auxiliary = 1U << 1,   .check = check,         .flops_in = 4,
    .grad = grad, .decompose = decompose, .reference = reference,
};

const OpDef head_norm_grad_def = {
    OP_SOURCE,
    .check = check_grad,
    .flops_in = 9,
    .reference = reference_grad,
};
