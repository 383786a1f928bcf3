/* The mean over all ranks of a gradient, of which each rank gets its shard.
 *
 * reduce_scatter  shard | x     shard = attr.scale * (x of rank 0 + x of rank 1 + ...), of which its own part
 *
 * The shard may lie at its place in x, whose other shards hold nothing afterwards; an empty one has one
 * element, which is left alone. Of several micro-batches only the last one's runs. */
#include "ops/collective/shards.h"

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_dense(plan, node, 1, 1));
    return shards_check(plan, node, plan_out(plan, node, 0), plan_in(plan, node, 0));
}

static OpCost cost(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0);
    const double n = (double)plan_ranks(plan), others = (n - 1) / n;
    const double share = 1 / (double)plan_phase_runs(plan, node->phase);
    return (OpCost){.flops = share * others * (double)plan_elements(x),
                    .bytes = share * (1 + 1 / n) * (double)plan_bytes(x),
                    .wire = share * others * (double)plan_bytes(x)};
}

static Status reference(const OpCall *call)
{
    if (call->comm) return shards_one_rank_only(call);
    shards_take_own(call);
    return ST_OK;
}

const OpDef reduce_scatter_def = {OP_SOURCE, .check = check, .cost = cost, .reference = reference};
