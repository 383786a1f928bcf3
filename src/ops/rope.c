/* Rotary position embedding: the pair (2i, 2i+1) of every head turns by an angle that depends on
 * the token's place t in its sequence,
 *
 *     y0 = x0 cos - x1 sin            y1 = x0 sin + x1 cos
 *
 * rope  y | x, cos, sin, cos_full, sin_full
 *
 * x is [N, W] with N = B*T; cos and sin are [T, D/2]; row r is token t = r mod T. attr.tokens = T.
 * attr.heads heads of D columns turn, counted from column 0 (2H for q, k and v side by side, H for
 * one of them alone); the columns after them are copied. attr.inverse turns back, which is also the
 * gradient.
 *
 * cos_full and sin_full are absent, or [T, W] tables that say the same with one factor per column,
 * for the decomposed form: y = x * cos_full + rotate_pairs(x) * sin_full. Where they are given,
 * they are what counts, and inverse is the transpose of that. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 3));
    const Tensor *x = plan_in(plan, node, 0), *cos = plan_in(plan, node, 1);
    const Tensor *cos_full = plan_in(plan, node, 3), *sin_full = plan_in(plan, node, 4);
    const int64_t T = node->attr.tokens, W = plan_width(x), H = node->attr.heads;
    const int64_t D = 2 * plan_width(cos);
    TRY(op_check_elements(node, "y", plan_out(plan, node, 0), plan_elements(x)));
    TRY(op_check_elements(node, "sin", plan_in(plan, node, 2), plan_elements(cos)));
    if (T <= 0 || plan_rows(x) % T != 0 || plan_rows(cos) != T) {
        return FAIL(ST_FAILED, "rope (%s): %lld rows and %lld rows of angles for %lld tokens",
                    node->scope, (long long)plan_rows(x), (long long)plan_rows(cos), (long long)T);
    }
    if (H <= 0 || H > W / D) {
        return FAIL(ST_FAILED, "rope (%s): %lld heads of %lld columns do not fit a row of %lld",
                    node->scope, (long long)H, (long long)D, (long long)W);
    }
    if (!cos_full && !sin_full) return ST_OK;
    if (!cos_full || !sin_full || H * D != W) {
        return FAIL(ST_FAILED, "rope (%s): full tables come in pairs and turn whole rows",
                    node->scope);
    }
    TRY(op_check_elements(node, "cos_full", cos_full, T * W));
    return op_check_elements(node, "sin_full", sin_full, T * W);
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0), *cos = plan_in(plan, node, 1);
    const double turned = (double)(node->attr.heads * 2 * plan_width(cos));
    return (OpCost){.flops = 3 * (double)plan_rows(x) * turned};
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int cos = plan_in_id(b->plan, node, 1), sin = plan_in_id(b->plan, node, 2);
    const int cos_full = plan_in_id(b->plan, node, 3), sin_full = plan_in_id(b->plan, node, 4);
    NodeAttr attr = node->attr;
    attr.inverse = !attr.inverse;
    op_rule_grad_input(b, node, OP_rope, attr, IDS(dy, cos, sin, cos_full, sin_full));
}

/* x * cos_full + rotate_pairs(x) * sin_full; turning back rotates after the product. */
static void decompose(Builder *b, const Node *node)
{
    const int y = plan_out_id(b->plan, node, 0), x = plan_in_id(b->plan, node, 0);
    const int cos = plan_in_id(b->plan, node, 1), sin = plan_in_id(b->plan, node, 2);
    const int cos_full = plan_in_id(b->plan, node, 3), sin_full = plan_in_id(b->plan, node, 4);
    if (cos_full == PLAN_NONE) { /* nothing simpler can be said without the tables */
        *builder_node(b, OP_rope, IDS(y), IDS(x, cos, sin)) = node->attr;
        return;
    }
    const DType wide = op_full_dtype(builder_dtype(b, x));
    const int direct = builder_like(b, "x*cos", x, wide),
              crossed = builder_like(b, "x*sin", x, wide);
    builder_node(b, OP_binary, IDS(direct), IDS(x, cos_full))->fn = FN_MUL;
    if (node->attr.inverse) {
        const int product = builder_like(b, "product", x, wide);
        builder_node(b, OP_binary, IDS(product), IDS(x, sin_full))->fn = FN_MUL;
        builder_node(b, OP_rotate_pairs, IDS(crossed), IDS(product))->inverse = true;
    } else {
        const int turned = builder_like(b, "rotated", x, builder_dtype(b, x));
        builder_node(b, OP_rotate_pairs, IDS(turned), IDS(x));
        builder_node(b, OP_binary, IDS(crossed), IDS(turned, sin_full))->fn = FN_MUL;
    }
    builder_node(b, OP_binary, IDS(y), IDS(direct, crossed))->fn = FN_ADD;
}

/* The 2 x 2 matrix of one pair: y0 = m[0] x0 + m[1] x1, y1 = m[2] x0 + m[3] x1. */
static void pair_matrix(const OpCall *call, int64_t t, int64_t col, double m[4])
{
    const Operand cos = element_in(call, 1), sin = element_in(call, 2);
    const Operand cos_full = element_in(call, 3), sin_full = element_in(call, 4);
    const bool full = cos_full.data;
    const int64_t i = col / 2 % cos.cols;
    const double c0 = full ? at(cos_full, t, col) : at(cos, t, i);
    const double c1 = full ? at(cos_full, t, col + 1) : c0;
    const double s0 = full ? at(sin_full, t, col) : at(sin, t, i);
    const double s1 = full ? at(sin_full, t, col + 1) : s0;
    const bool inverse = call->node->attr.inverse;
    m[0] = c0;
    m[1] = inverse ? s1 : -s0;
    m[2] = inverse ? -s0 : s1;
    m[3] = c1;
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int64_t T = call->node->attr.tokens;
    const int64_t turned = call->node->attr.heads * 2 * element_in(call, 1).cols;
    for (int64_t i = 0; i < x.rows; i++) {
        for (int64_t j = 0; j < turned; j += 2) {
            double m[4];
            pair_matrix(call, i % T, j, m);
            const double x0 = at(x, i, j), x1 = at(x, i, j + 1);
            put(y, i, j, m[0] * x0 + m[1] * x1);
            put(y, i, j + 1, m[2] * x0 + m[3] * x1);
        }
        for (int64_t j = turned; j < x.cols; j++) put(y, i, j, at(x, i, j));
    }
    return ST_OK;
}

const OpDef rope_def = {
    OP_SOURCE,    .alias = {{0, 0}}, .n_aliases = 1,         .check = check,
    .cost = cost, .grad = grad,      .decompose = decompose, .reference = reference,
};
