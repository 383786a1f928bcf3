/* Without a communicator there is one rank, and nothing to be sent. */
#include "comm/comm.h"
#include "ops/collective/shards.h"
#include "ops/cpu/impls_cpu.h"

static Status all_reduce(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0);
    void *data = op_out(call, 0);
    if (!call->comm) return ST_OK;
    return comm_all_reduce(call->comm, data, data, plan_elements(x), x->dtype,
                           (float)call->node->attr.scale);
}

static Status reduce_scatter(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    if (call->comm)
        return comm_reduce_scatter(call->comm, op_in(call, 0), op_out(call, 0), plan_elements(x),
                                   x->dtype, (float)call->node->attr.scale);
    shards_take_own(call);
    return ST_OK;
}

static Status all_gather(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0);
    if (call->comm)
        return comm_all_gather(call->comm, op_in(call, 0), op_out(call, 0), plan_elements(x),
                               x->dtype);
    shards_put_own(call);
    return ST_OK;
}

const OpImpl all_reduce_cpu[] = {{.name = "all_reduce_cpu", .run = all_reduce}, {0}};
const OpImpl reduce_scatter_cpu[] = {{.name = "reduce_scatter_cpu", .run = reduce_scatter}, {0}};
const OpImpl all_gather_cpu[] = {{.name = "all_gather_cpu", .run = all_gather}, {0}};
