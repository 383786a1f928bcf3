/* Spans of x; y is a span beside it, a number for the whole row, or a row that comes back. */
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/repeat.h"
#include "plan/functions.h"

/* z may be x: each element is read before it is written. */
#define EACH(result)                                                   \
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) z[i] = result; \
    break

CPU_CLONES static void with_vector(int fn, float *z, const float *x, const float *y, int64_t n)
{
    switch (fn) {
    case FN_ADD:
        EACH(x[i] + y[i]);
    case FN_SUB:
        EACH(x[i] - y[i]);
    case FN_MUL:
        EACH(x[i] * y[i]);
    case FN_DIV:
        EACH(x[i] / y[i]);
    default:
        break;
    }
}

CPU_CLONES static void with_number(int fn, float *z, const float *x, float y, int64_t n)
{
    switch (fn) {
    case FN_ADD:
        EACH(x[i] + y);
    case FN_SUB:
        EACH(x[i] - y);
    case FN_MUL:
        EACH(x[i] * y);
    case FN_DIV:
        EACH(x[i] / y);
    default:
        break;
    }
}

typedef struct Pass {
    Operand z, x, y;
    Repeat how;
    int fn;
    bool number; /* y is one number for the whole span */
} Pass;

static void run_span(const Pass *p, Span span)
{
    float in[2][ROWS_CHUNK], out[ROWS_CHUNK];
    float *z = elementwise_cpu_target(p->z, span, out);
    const float *x = elementwise_cpu_read(p->x, span, in[0]);
    if (p->number) {
        const int64_t i = p->how == REPEAT_IN_ROW ? span.row : 0;
        with_number(p->fn, z, x, (float)element_get(p->y.data, p->y.dtype, i), span.n);
    } else {
        Span beside = span;
        if (p->how == REPEAT_PERIOD) beside.row %= p->y.rows;
        with_vector(p->fn, z, x, elementwise_cpu_read(p->y, beside, in[1]), span.n);
    }
    elementwise_cpu_finish(p->z, span, z);
}

/* y with rows as wide as those of x, however its own shape is written. */
static Operand as_rows(Operand y, int64_t width)
{
    return (Operand){y.data, y.dtype, y.rows * y.cols / width, width, width};
}

static Status run(const OpCall *call)
{
    Pass p = {element_out(call, 0), element_in(call, 0),
              element_in(call, 1),  repeat_of(op_in_shape(call, 0), op_in_shape(call, 1)),
              call->node->attr.fn,  false};
    Spans spans = elementwise_cpu_over(call, op_in_shape(call, 0));
    p.number = p.how == REPEAT_IN_ROW || p.y.rows * p.y.cols == 1;
    if (p.how == REPEAT_IN_ROW || p.how == REPEAT_PERIOD) {
        spans = elementwise_cpu_make(p.x.rows, p.x.cols, false);
        if (!p.number) p.y = as_rows(p.y, p.x.cols);
    }
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) run_span(&p, elementwise_cpu_at(&spans, i));
    return ST_OK;
}

static const char *declines(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, 0), *y = plan_in(plan, node, 1);
    const bool number = plan_elements(y) == 1;
    if (repeat_of(x, y) == REPEAT_PERIOD && !number && plan_elements(y) % plan_width(x) != 0) {
        return "y repeats within a row";
    }
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl binary_cpu[] = {{.name = "binary_cpu", .declines = declines, .run = run}, {0}};
