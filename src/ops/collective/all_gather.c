/* The shards of all ranks, which all of them get.
 *
 * all_gather  x | shard         x = the shard of rank 0, that of rank 1, ...
 *
 * The shard may lie at its place in x already; an empty one has one element, which nobody reads. */
#include "ops/collective/shards.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    return shards_check(plan, node, plan_in(plan, node, 0), plan_out(plan, node, 0));
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_out(plan, node, 0);
    const double n = (double)plan_ranks(plan);
    return (OpCost){.bytes = (1 + 1 / n) * (double)plan_bytes(x),
                    .wire = (n - 1) / n * (double)plan_bytes(x)};
}

static Status reference(const OpCall *call)
{
    if (call->comm) return shards_one_rank_only(call);
    shards_put_own(call);
    return ST_OK;
}

const OpDef all_gather_def = {OP_SOURCE, .check = check, .cost = cost, .reference = reference};
