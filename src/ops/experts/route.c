/* The experts of each token: those of its K largest logits, of equal ones the first, and what they count.
 *
 * route       weights, choice | logits, given
 * route_grad  dlogits | dweights, logits, choice
 *
 * logits is [N, E]; choice [N, K] has the experts, the largest first; weights [N, K] are the softmax over
 * all E at these, or with attr.renormalise the softmax over these alone. `given`, where it is there, is the
 * choice: the weights are those of its experts. With p the softmax, over all or over the chosen, and g =
 * d(weights), 0 where an expert is not chosen:
 *     dlogits = p (g - sum(g p))        and 0 at an expert that the softmax is not over
 * A choice has no gradient. Softmax and weights are fp32, whatever the logits are. */
#include "ops/element.h"
#include "ops/experts/experts.h"
#include "ops/op_check.h"

#include <math.h>
#include <string.h>

enum { IN_GIVEN = 1 };

static Status check_choice(const Node *node, const Tensor *logits, const Tensor *choice)
{
    const int64_t E = plan_width(logits), K = plan_width(choice);
    TRY(op_check_dtype(node, "choice", choice, DT_I32));
    TRY(op_check_elements(node, "choice", choice, plan_rows(logits) * K));
    if (K <= E && E <= EXPERTS_MOST) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "%s (%s): %lld of %lld experts; at most %d, and no more than there are",
                plan_op_name(node->op), node->scope, (long long)K, (long long)E, EXPERTS_MOST);
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 2, 1));
    const Tensor *weights = plan_out(plan, node, 0), *choice = plan_out(plan, node, 1);
    const Tensor *logits = plan_in(plan, node, 0), *given = plan_in(plan, node, IN_GIVEN);
    TRY(op_check_elements(node, "weights", weights, plan_elements(choice)));
    if (given) TRY(check_choice(node, logits, given));
    return check_choice(node, logits, choice);
}

static Status check_grad(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 3));
    const Tensor *logits = plan_in(plan, node, 1), *choice = plan_in(plan, node, 2);
    TRY(op_check_elements(node, "dlogits", plan_out(plan, node, 0), plan_elements(logits)));
    TRY(op_check_elements(node, "dweights", plan_in(plan, node, 0), plan_elements(choice)));
    return check_choice(node, logits, choice);
}

static void grad(Builder *b, const Node *node)
{
    const int weights = plan_out_id(b->plan, node, 0), choice = plan_out_id(b->plan, node, 1);
    const int logits = plan_in_id(b->plan, node, 0);
    const NodeAttr attr = node->attr;
    const int dlogits = builder_grad_target(b, logits);
    *builder_node(b, OP_route_grad, IDS(dlogits), IDS(builder_grad(b, weights), logits, choice)) =
        attr;
    builder_grad_add(b, logits, dlogits);
}

/* The largest that is not chosen yet; of NaN the first. */
static int64_t next_largest(Operand logits, int64_t row, const bool *chosen)
{
    int64_t best = -1;
    for (int64_t e = 0; e < logits.cols; e++) {
        if (chosen[e]) continue;
        if (best < 0 || at(logits, row, e) > at(logits, row, best)) best = e;
    }
    return best;
}

static void choose(Operand choice, Operand logits, int64_t row)
{
    bool chosen[EXPERTS_MOST] = {false};
    for (int64_t j = 0; j < choice.cols; j++) {
        const int64_t e = next_largest(logits, row, chosen);
        chosen[e] = true;
        put(choice, row, j, (double)e);
    }
}

/* p = the softmax of a row of logits, over all or the chosen. */
static void softmax(const OpCall *call, Operand logits, Operand choice, int64_t row, double *p)
{
    double most = -INFINITY, sum = 0;
    bool counts[EXPERTS_MOST];
    for (int64_t e = 0; e < logits.cols; e++) counts[e] = !call->node->attr.renormalise;
    for (int64_t j = 0; j < choice.cols; j++) counts[(int64_t)at(choice, row, j)] = true;
    for (int64_t e = 0; e < logits.cols; e++)
        most = counts[e] ? fmax(most, at(logits, row, e)) : most;
    for (int64_t e = 0; e < logits.cols; e++)
        sum += p[e] = counts[e] ? exp(at(logits, row, e) - most) : 0;
    for (int64_t e = 0; e < logits.cols; e++) p[e] /= sum;
}

static Status reference(const OpCall *call)
{
    const Operand weights = element_out(call, 0), choice = element_out(call, 1);
    const Operand logits = element_in(call, 0), given = element_in(call, IN_GIVEN);
    double p[EXPERTS_MOST];
    for (int64_t i = 0; i < logits.rows; i++) {
        if (given.data) {
            for (int64_t j = 0; j < choice.cols; j++) put(choice, i, j, at(given, i, j));
        } else {
            choose(choice, logits, i);
        }
        softmax(call, logits, choice, i, p);
        for (int64_t j = 0; j < choice.cols; j++) put(weights, i, j, p[(int64_t)at(choice, i, j)]);
    }
    return ST_OK;
}

static Status reference_grad(const OpCall *call)
{
    const Operand dlogits = element_out(call, 0), dweights = element_in(call, 0);
    const Operand logits = element_in(call, 1), choice = element_in(call, 2);
    double p[EXPERTS_MOST], g[EXPERTS_MOST];
    for (int64_t i = 0; i < logits.rows; i++) {
        double dot = 0;
        softmax(call, logits, choice, i, p);
        memset(g, 0, sizeof g);
        for (int64_t j = 0; j < choice.cols; j++) g[(int64_t)at(choice, i, j)] = at(dweights, i, j);
        for (int64_t e = 0; e < logits.cols; e++) dot += g[e] * p[e];
        for (int64_t e = 0; e < logits.cols; e++) put(dlogits, i, e, p[e] * (g[e] - dot));
    }
    return ST_OK;
}

/* Of each logit: a difference, exp, a sum, a quotient. */
const OpDef route_def = {
    OP_SOURCE,     .auxiliary = 1U << 1, .check = check,
    .flops_in = 4, .grad = grad,         .reference = reference,
};

const OpDef route_grad_def = {
    OP_SOURCE,
    .check = check_grad,
    .flops_out = 8,
    .reference = reference_grad,
};
