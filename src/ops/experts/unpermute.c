/* Back from rows of experts to tokens (experts.h):
 *
 * unpermute       y | yp, place, weights     y[n] = sum over j of weights[n, j] yp[place[n, j]]
 * unpermute_grad  dyp, dweights | dy, yp, place, weights
 *
 *     dyp[place[n, j]] = weights[n, j] dy[n]        dweights[n, j] = dy[n] yp[place[n, j]]
 *
 * Without weights, which is the gradient of permute, each counts 1, and the gradient is permute. Sums are
 * at least fp32, in the order of j. */
#include "ops/element.h"
#include "ops/experts/permutation.h"

enum { IN_PLACE = 1, IN_WEIGHTS = 2 };

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 2));
    const Tensor *place = plan_in(plan, node, IN_PLACE), *weights = plan_in(plan, node, IN_WEIGHTS);
    if (weights) TRY(op_check_elements(node, "weights", weights, plan_elements(place)));
    return permutation_check(node, plan_out(plan, node, 0), plan_in(plan, node, 0), place);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 2, 4));
    const Tensor *place = plan_in(plan, node, 2), *dyp = plan_out(plan, node, 0);
    TRY(op_check_elements(node, "yp", plan_in(plan, node, 1), plan_elements(dyp)));
    TRY(op_check_elements(node, "weights", plan_in(plan, node, 3), plan_elements(place)));
    TRY(op_check_elements(node, "dweights", plan_out(plan, node, 1), plan_elements(place)));
    return permutation_check(node, plan_in(plan, node, 0), dyp, place);
}

static void grad(Builder *b, const Node *node)
{
    const int yp = plan_in_id(b->plan, node, 0), place = plan_in_id(b->plan, node, IN_PLACE);
    const int weights = plan_in_id(b->plan, node, IN_WEIGHTS);
    const int dy = builder_grad(b, plan_out_id(b->plan, node, 0));
    const int dyp = builder_grad_target(b, yp);
    if (weights == PLAN_NONE) {
        builder_node(b, OP_permute, IDS(dyp), IDS(dy, place));
    } else {
        const int dweights = builder_grad_target(b, weights);
        builder_node(b, OP_unpermute_grad, IDS(dyp, dweights), IDS(dy, yp, place, weights));
        builder_grad_add(b, weights, dweights);
    }
    builder_grad_add(b, yp, dyp);
}

static Status reference(const OpCall *call)
{
    const Operand y = element_out(call, 0), yp = element_in(call, 0);
    const Operand place = element_in(call, IN_PLACE), weights = element_in(call, IN_WEIGHTS);
    for (int64_t i = 0; i < y.rows; i++) {
        for (int64_t c = 0; c < y.cols; c++) {
            double sum = 0;
            for (int64_t j = 0; j < place.cols; j++)
                sum += (weights.data ? at(weights, i, j) : 1) * at(yp, (int64_t)at(place, i, j), c);
            put(y, i, c, sum);
        }
    }
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dyp = element_out(call, 0), dweights = element_out(call, 1);
    const Operand dy = element_in(call, 0), yp = element_in(call, 1);
    const Operand place = element_in(call, 2), weights = element_in(call, 3);
    for (int64_t i = 0; i < place.rows * place.cols; i++) {
        const int64_t n = i / place.cols, j = i % place.cols, row = (int64_t)at(place, n, j);
        double dot = 0;
        for (int64_t c = 0; c < dy.cols; c++) dot += at(dy, n, c) * at(yp, row, c);
        for (int64_t c = 0; c < dy.cols; c++) put(dyp, row, c, at(weights, n, j) * at(dy, n, c));
        put(dweights, n, j, dot);
    }
    return ST_OK;
}

/* A product and a sum for each element that is read. */
const OpDef unpermute_def = {
    OP_SOURCE, .check = check, .flops_in = 2, .grad = grad, .reference = reference,
};

const OpDef unpermute_grad_def = {
    OP_SOURCE,
    .check = check_grad,
    .flops_out = 3,
    .reference = reference_grad,
};
