/* The rows of all tokens, those of the same expert together (experts.h):
 *
 * permute  xp | x, place        xp[place[n, j]] = x[n]        d(x) is unpermute, without weights */
#include "ops/element.h"
#include "ops/experts/permutation.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 2));
    return permutation_check(node, plan_in(plan, node, 0), plan_out(plan, node, 0),
                             plan_in(plan, node, 1));
}

static void grad(Builder *b, const Node *node)
{
    const int x = plan_in_id(b->plan, node, 0), place = plan_in_id(b->plan, node, 1);
    const int dxp = builder_grad(b, plan_out_id(b->plan, node, 0));
    if (!builder_wants_grad(b, x)) return;
    const int dx = builder_grad_target(b, x);
    builder_node(b, OP_unpermute, IDS(dx), IDS(dxp, place));
    builder_grad_add(b, x, dx);
}

static Status reference(const OpCall *call)
{
    const Operand xp = element_out(call, 0), x = element_in(call, 0), place = element_in(call, 1);
    for (int64_t i = 0; i < place.rows * place.cols; i++) {
        const int64_t row = (int64_t)at(place, i / place.cols, i % place.cols);
        for (int64_t c = 0; c < x.cols; c++) put(xp, row, c, at(x, i / place.cols, c));
    }
    return ST_OK;
}

const OpDef permute_def = {
    OP_SOURCE,
    .check = check,
    .grad = grad,
    .reference = reference,
};
