/* Turns every pair by a quarter, as rotary embedding needs it (ops/rope.c):
 *
 *     y0 = -x1            y1 = x0
 *
 * rotate_pairs  y | x        attr.inverse turns the other way, which is also the gradient
 *
 * A pair is (2i, 2i+1). With attr.head_dim = D a row is heads of D columns, whose first R
 * (attr.rotary; 0: D) have pairs, with attr.halves (i, i + R/2); the others become 0. x and y may be
 * windows with gaps between rows. */
#include "ops/element.h"
#include "ops/op_check.h"
#include "ops/rotation.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 1));
    const Tensor *x = plan_in(plan, node, 0), *y = plan_out(plan, node, 0);
    const NodeAttr *attr = &node->attr;
    const int64_t D = attr->head_dim ? attr->head_dim : 2, R = attr->rotary ? attr->rotary : D;
    TRY(op_check_elements(node, "y", y, plan_elements(x)));
    if (plan_width(x) % D != 0 || R > D || R % 2 != 0) {
        return FAIL(ST_FAILED, "rotate_pairs (%s): %lld columns are no pairs in heads of %lld",
                    node->scope, (long long)plan_width(x), (long long)D);
    }
    if (attr->halves && !attr->head_dim)
        return FAIL(ST_FAILED, "rotate_pairs (%s): halves of which head?", node->scope);
    if (plan_width(x) == plan_width(y)) return ST_OK;
    return FAIL(ST_FAILED, "rotate_pairs (%s): x and y differ in their columns", node->scope);
}

static void grad(Builder *b, const Node *node)
{
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    NodeAttr attr = node->attr;
    attr.inverse = !attr.inverse;
    op_rule_grad_input(b, node, OP_rotate_pairs, attr, IDS(dy));
}

static void turn_head(const OpCall *call, const Rotation *r, int64_t row, int64_t head)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const double sign = call->node->attr.inverse ? 1 : -1;
    for (int64_t i = 0; i < r->half; i++) {
        const int64_t c0 = rotation_column(r, head, i), c1 = c0 + rotation_distance(r);
        const double x0 = at(x, row, c0), x1 = at(x, row, c1);
        put(y, row, c0, sign * x1);
        put(y, row, c1, -sign * x0);
    }
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Rotation r = rotation_of_row(&call->node->attr, x.cols);
    for (int64_t row = 0; row < x.rows; row++) {
        for (int64_t h = 0; h < r.heads; h++) turn_head(call, &r, row, h);
        for (int64_t k = 0; k < rotation_resting(&r, x.cols); k++) {
            put(y, row, rotation_resting_column(&r, k), 0);
        }
    }
    return ST_OK;
}

const OpDef rotate_pairs_def = {
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .grad = grad,      .reference = reference,
};
