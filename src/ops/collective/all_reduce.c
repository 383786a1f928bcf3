/* The mean over all ranks of a gradient, which all of them get.
 *
 * all_reduce  x | x        in place: x = attr.scale * (the x of rank 0 + that of rank 1 + ...)
 *
 * Where there is one rank it is left as it is. Of several micro-batches only the last one's runs. */
#include "ops/op.h"
#include "ops/op_check.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    if (plan_in_id(plan, node, 0) != plan_out_id(plan, node, 0))
        return FAIL(ST_FAILED, "all_reduce (%s): the mean is not where its part was", node->scope);
    return ST_OK;
}

/* Each rank adds up its share of the elements, and sends what it has of the other shares and the mean of
 * its own: the fewest bytes there are. */
static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_out(plan, node, 0);
    const double n = (double)plan_ranks(plan), others = (n - 1) / n;
    const double share = 1 / (double)plan_phase_runs(plan, node->phase);
    return (OpCost){.flops = share * others * (double)plan_elements(x),
                    .bytes = share * 2 * (double)plan_bytes(x),
                    .wire = share * 2 * others * (double)plan_bytes(x)};
}

static Status reference(const OpCall *call)
{
    if (!call->comm) return ST_OK;
    return FAIL(ST_UNSUPPORTED, "%s: only one rank computes in float64", call->node->scope);
}

const OpDef all_reduce_def = {OP_SOURCE, .check = check, .cost = cost, .reference = reference};
