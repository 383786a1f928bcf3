/* Rotary position embedding: in every head pairs of columns turn by an angle that depends on the
 * token's place t in its sequence,
 *
 *     y0 = x0 cos - x1 sin            y1 = x0 sin + x1 cos
 *
 * rope  y | x, cos, sin, cos_full, sin_full
 *
 * x is [N, W] with N = B*T; cos and sin are [T, R/2]; row r is token t = r mod T. attr.tokens = T.
 * x and y may be windows with gaps between rows.
 * attr.heads heads of D columns (attr.head_dim; 0: R) turn, counted from column 0 (2H for q, k and v
 * side by side, H for one of them alone); the columns after them are copied. Of each head the first R
 * columns (attr.rotary; 0: D) turn, the others are copied. A pair is (2i, 2i+1), with attr.halves
 * (i, i + R/2). attr.inverse turns back, which is also the gradient.
 *
 * cos_full and sin_full are absent, or [T, W] tables that say the same with one factor per column (1
 * and 0 where nothing turns), for the decomposed form:
 * y = x * cos_full + rotate_pairs(x) * sin_full. Where they are given, they are what counts, and
 * inverse is the transpose of that. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "ops/rotation.h"
#include "plan/op_functions.h"

static Status check_heads(const Node *node, const Tensor *x, const Tensor *cos)
{
    const Rotation r = rotation_of(&node->attr, cos);
    const int64_t W = plan_width(x), rotary = node->attr.rotary ? node->attr.rotary : r.head_dim;
    if (rotary != 2 * r.half || rotary > r.head_dim) {
        return FAIL(ST_FAILED,
                    "rope (%s): %lld angles turn %lld columns of a head, not %lld of %lld",
                    node->scope, (long long)r.half, (long long)(2 * r.half), (long long)rotary,
                    (long long)r.head_dim);
    }
    if (r.heads > 0 && r.heads <= W / r.head_dim) return ST_OK;
    return FAIL(ST_FAILED, "rope (%s): %lld heads of %lld columns do not fit a row of %lld",
                node->scope, (long long)r.heads, (long long)r.head_dim, (long long)W);
}

static Status check_full_tables(const Plan *plan, const Node *node)
{
    const Tensor *cos_full = plan_in(plan, node, 3), *sin_full = plan_in(plan, node, 4);
    const Rotation r = rotation_of(&node->attr, plan_in(plan, node, 1));
    const int64_t T = node->attr.tokens, W = plan_width(plan_in(plan, node, 0));
    if (!cos_full && !sin_full) return ST_OK;
    if (!cos_full || !sin_full || r.heads * r.head_dim != W) {
        return FAIL(ST_FAILED, "rope (%s): full tables come in pairs and turn whole rows",
                    node->scope);
    }
    TRY(op_check_elements(node, "cos_full", cos_full, T * W));
    return op_check_elements(node, "sin_full", sin_full, T * W);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 3));
    const Tensor *x = plan_in(plan, node, 0), *cos = plan_in(plan, node, 1);
    const int64_t T = node->attr.tokens;
    TRY(op_check_elements(node, "y", plan_out(plan, node, 0), plan_elements(x)));
    TRY(op_check_elements(node, "sin", plan_in(plan, node, 2), plan_elements(cos)));
    for (int i = 1; i < node->n_in; i++) TRY(op_check_whole(node, plan_in(plan, node, i)));
    if (plan_width(plan_out(plan, node, 0)) != plan_width(x))
        return FAIL(ST_FAILED, "rope (%s): x and y differ in their columns", node->scope);
    if (T <= 0 || plan_rows(x) % T != 0 || plan_rows(cos) != T) {
        return FAIL(ST_FAILED, "rope (%s): %lld rows and %lld rows of angles for %lld tokens",
                    node->scope, (long long)plan_rows(x), (long long)plan_rows(cos), (long long)T);
    }
    TRY(check_heads(node, x, cos));
    return check_full_tables(plan, node);
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

/* The rotate_pairs of this node. Neighbours that fill the row need no heads. */
static NodeAttr quarter_turn(const NodeAttr *attr, const Tensor *cos)
{
    const Rotation r = rotation_of(attr, cos);
    const bool plain = !r.halves && r.head_dim == 2 * r.half;
    if (plain) return (NodeAttr){.inverse = attr->inverse};
    return (NodeAttr){
        .inverse = attr->inverse, .halves = r.halves, .head_dim = r.head_dim, .rotary = 2 * r.half};
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
    const NodeAttr quarter = quarter_turn(&node->attr, builder_at(b, cos));
    const DType wide = op_full_dtype(builder_dtype(b, x));
    const int direct = builder_like(b, "x*cos", x, wide),
              crossed = builder_like(b, "x*sin", x, wide);
    builder_node(b, OP_binary, IDS(direct), IDS(x, cos_full))->fn = FN_MUL;
    if (node->attr.inverse) {
        const int product = builder_like(b, "product", x, wide);
        builder_node(b, OP_binary, IDS(product), IDS(x, sin_full))->fn = FN_MUL;
        *builder_node(b, OP_rotate_pairs, IDS(crossed), IDS(product)) = quarter;
    } else {
        const int turned = builder_like(b, "rotated", x, builder_dtype(b, x));
        *builder_node(b, OP_rotate_pairs, IDS(turned), IDS(x)) = quarter;
        builder_node(b, OP_binary, IDS(crossed), IDS(turned, sin_full))->fn = FN_MUL;
    }
    builder_node(b, OP_binary, IDS(y), IDS(direct, crossed))->fn = FN_ADD;
}

/* The 2 x 2 matrix of pair `i` of a head, columns c0 and c1: y0 = m[0] x0 + m[1] x1,
 * y1 = m[2] x0 + m[3] x1. */
static void pair_matrix(const OpCall *call, int64_t t, int64_t i, int64_t c0, int64_t c1,
                        double m[4])
{
    const Operand cos = element_in(call, 1), sin = element_in(call, 2);
    const Operand cos_full = element_in(call, 3), sin_full = element_in(call, 4);
    const bool full = cos_full.data;
    const double s0 = full ? at(sin_full, t, c0) : at(sin, t, i);
    const double s1 = full ? at(sin_full, t, c1) : s0;
    const bool inverse = call->node->attr.inverse;
    m[0] = full ? at(cos_full, t, c0) : at(cos, t, i);
    m[1] = inverse ? s1 : -s0;
    m[2] = inverse ? -s0 : s1;
    m[3] = full ? at(cos_full, t, c1) : at(cos, t, i);
}

static void turn_pair(const OpCall *call, const Rotation *r, int64_t row, int64_t head, int64_t i)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const int64_t c0 = rotation_column(r, head, i), c1 = c0 + rotation_distance(r);
    double m[4];
    pair_matrix(call, row % call->node->attr.tokens, i, c0, c1, m);
    const double x0 = at(x, row, c0), x1 = at(x, row, c1);
    put(y, row, c0, m[0] * x0 + m[1] * x1);
    put(y, row, c1, m[2] * x0 + m[3] * x1);
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0), full = element_in(call, 3);
    const Rotation r = rotation_of(&call->node->attr, op_in_shape(call, 1));
    for (int64_t row = 0; row < x.rows; row++) {
        for (int64_t h = 0; h < r.heads; h++) {
            for (int64_t i = 0; i < r.half; i++) turn_pair(call, &r, row, h, i);
        }
        for (int64_t k = 0; k < rotation_resting(&r, x.cols); k++) {
            const int64_t j = rotation_resting_column(&r, k);
            const double factor = full.data ? at(full, row % call->node->attr.tokens, j) : 1;
            put(y, row, j, factor * at(x, row, j));
        }
    }
    return ST_OK;
}

const OpDef rope_def = {
    OP_SOURCE,    .alias = {{0, 0}}, .n_aliases = 1,         .check = check,
    .cost = cost, .grad = grad,      .decompose = decompose, .reference = reference,
};
