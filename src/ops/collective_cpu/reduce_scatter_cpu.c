#include "comm/comm.h"
#include "ops/collective/shards.h"
#include "ops/cpu/impls_cpu.h"

static Status run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    if (call->comm)
        return comm_reduce_scatter(call->comm, op_in(call, 0), op_out(call, 0), plan_elements(x),
                                   x->dtype, (float)call->node->attr.scale);
    shards_take_own(call);
    return ST_OK;
}

const OpImpl reduce_scatter_cpu[] = {{.name = "reduce_scatter_cpu", .run = run}, {0}};
