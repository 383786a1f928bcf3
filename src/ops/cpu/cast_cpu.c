#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

static void convert(Operand y, Operand x, Span span)
{
    void *dst = elementwise_cpu_address(y, span);
    const void *src = elementwise_cpu_address(x, span);
    if (y.dtype == DT_F32) {
        rows_cpu_load(dst, src, x.dtype, span.n);
        return;
    }
    float buffer[ROWS_CHUNK];
    rows_cpu_store(dst, rows_cpu_read(src, x.dtype, span.n, buffer), y.dtype, span.n);
}

static Status run(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const Spans spans = elementwise_cpu_over(call, op_in_shape(call, 0));
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) convert(y, x, elementwise_cpu_at(&spans, i));
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
