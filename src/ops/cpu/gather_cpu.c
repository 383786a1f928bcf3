/* gather itself reads one element per row: its reference has nothing to gain. */
#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"

#include <string.h>

static void gather_grad_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand dx = element_out(call, 0), dy = element_in(call, 0);
    const int32_t *ids = op_in(call, 1);
    const size_t bytes = (size_t)dx.cols * plan_dtype_size(dx.dtype);
    (void)thread;
    for (int64_t i = first; i < last; i++) {
        memset(operand_cpu_at(dx, i, 0), 0, bytes); /* 0 in every dtype */
        put(dx, i, ids[i], element_get(dy.data, dy.dtype, i));
    }
}

const OpImpl gather_cpu[] = {{0}};
const OpImpl gather_grad_cpu[] = {{.name = "gather_grad_cpu", .rows = gather_grad_rows}, {0}};
