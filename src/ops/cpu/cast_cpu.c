#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

static void convert(const void *context, Chunk chunk)
{
    const Operand *y = context, *x = y + 1;
    rows_cpu_convert(operand_cpu_at(*y, chunk.row, chunk.col), y->dtype,
                     operand_cpu_at(*x, chunk.row, chunk.col), x->dtype, chunk.n);
}

static Status run(const OpCall *call)
{
    const Elementwise e = elementwise_cpu(call, 1, NULL, NULL);
    elementwise_cpu_for_each(call, e.in[0], e.flat, convert, (const Operand[]){e.out[0], e.in[0]});
    return ST_OK;
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype == DT_I32 || plan_out(plan, node, 0)->dtype == DT_I32) {
        return "integers have the reference only";
    }
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl cast_cpu[] = {{.name = "cast_cpu", .declines = declines, .run = run}, {0}};
