#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

static void convert(const void *context, Chunk chunk)
{
    const Operand *y = context, *x = y + 1;
    void *dst = operand_cpu_at(*y, chunk.row, chunk.col);
    const void *src = operand_cpu_at(*x, chunk.row, chunk.col);
    if (y->dtype == DT_F32) {
        rows_cpu_load(dst, src, x->dtype, chunk.n);
        return;
    }
    float buffer[ROWS_CHUNK];
    rows_cpu_store(dst, rows_cpu_read(src, x->dtype, chunk.n, buffer), y->dtype, chunk.n);
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
