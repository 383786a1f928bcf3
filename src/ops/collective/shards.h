/* What reduce_scatter and all_gather have in common: an array of all ranks, and this rank's shard of it
 * (plan/shard.h), a tensor of its own or a window at its place. */
#pragma once

#include "ops/op.h"
#include "ops/op_check.h"

#include <string.h>

/* An empty shard has one element: no tensor is empty. */
static inline Status shards_check(const Plan *plan, const Node *node, const Tensor *shard,
                                  const Tensor *all)
{
    const Shard own = plan_shard(plan, plan_elements(all));
    TRY(op_check_elements(node, "the shard", shard, i64_max(own.count, 1)));
    return op_check_dtype(node, "the shard", shard, all->dtype);
}

static inline Status shards_one_rank_only(const OpCall *call)
{
    return FAIL(ST_UNSUPPORTED, "%s: only one rank computes in float64", call->node->scope);
}

typedef struct OwnShard {
    size_t at, bytes; /* in the array */
} OwnShard;

static inline OwnShard shards_own(const OpCall *call, const Tensor *all)
{
    const Shard own = plan_shard(call->plan, plan_elements(all));
    const size_t size = plan_dtype_size(all->dtype);
    return (OwnShard){(size_t)own.first * size, (size_t)own.count * size};
}

/* Without other ranks: the shard is copied out of the array, or into it. */
static inline void shards_take_own(const OpCall *call)
{
    const OwnShard own = shards_own(call, op_in_shape(call, 0));
    const char *from = (const char *)op_in(call, 0) + own.at;
    if (own.bytes > 0 && from != op_out(call, 0)) memcpy(op_out(call, 0), from, own.bytes);
}

static inline void shards_put_own(const OpCall *call)
{
    const OwnShard own = shards_own(call, op_out_shape(call, 0));
    char *to = (char *)op_out(call, 0) + own.at;
    if (own.bytes > 0 && to != op_in(call, 0)) memcpy(to, op_in(call, 0), own.bytes);
}
