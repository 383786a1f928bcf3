#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/repeat.h"

CPU_CLONES static void fill(float *y, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++) y[i] = value;
}

CPU_CLONES static void scaled(float *restrict y, const float *restrict x, int64_t n, float scale)
{
    for (int64_t i = 0; i < n; i++) y[i] = scale * x[i];
}

static void run_span(const OpCall *call, Operand y, Operand x, Repeat how, Span span)
{
    float in[ROWS_CHUNK], out[ROWS_CHUNK];
    float *target = elementwise_cpu_target(y, span, out);
    const double scale = call->node->attr.scale;
    if (how == REPEAT_IN_ROW) {
        const int64_t from = x.rows * x.cols == 1 ? 0 : span.row;
        fill(target, span.n, (float)(scale * element_get(x.data, x.dtype, from)));
    } else { /* x is one row */
        const Span same = {0, span.col, span.n};
        scaled(target, elementwise_cpu_read(x, same, in), span.n, (float)scale);
    }
    elementwise_cpu_finish(y, span, target);
}

static Status run(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const bool one = x.rows * x.cols == 1;
    const Repeat how = one ? REPEAT_IN_ROW : repeat_of(op_out_shape(call, 0), op_in_shape(call, 0));
    const Spans spans = elementwise_cpu_make(y.rows, y.cols, one || how == REPEAT_NONE);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++)
        run_span(call, y, x, how, elementwise_cpu_at(&spans, i));
    return ST_OK;
}

/* A single element may be float64. */
static const char *declines(const Plan *plan, const Node *node)
{
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    const int64_t n = plan_elements(x);
    if (y->dtype == DT_F64 || (x->dtype == DT_F64 && n > 1))
        return "float64 has the reference only";
    if (n > 1 && repeat_of(y, x) == REPEAT_PERIOD && n != plan_width(y))
        return "x is not one row of y";
    return NULL;
}

const OpImpl broadcast_cpu[] = {{.name = "broadcast_cpu", .declines = declines, .run = run}, {0}};
