#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

_Static_assert(ROWS_CHUNK % 2 == 0, "a span holds whole pairs");

/* y may be x: a pair is read before it is written. */
CPU_CLONES static void rotate(float *y, const float *x, int64_t pairs, float sign)
{
#pragma omp simd
    for (int64_t i = 0; i < pairs; i++) {
        const float x0 = x[2 * i], x1 = x[2 * i + 1];
        y[2 * i] = sign * x1;
        y[2 * i + 1] = -sign * x0;
    }
}

static void run_span(Operand y, Operand x, Span span, float sign)
{
    float in[ROWS_CHUNK], out[ROWS_CHUNK];
    float *target = elementwise_cpu_target(y, span, out);
    rotate(target, elementwise_cpu_read(x, span, in), span.n / 2, sign);
    elementwise_cpu_finish(y, span, target);
}

static Status run(const OpCall *call)
{
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const float sign = call->node->attr.inverse ? 1.0F : -1.0F;
    const Spans spans = elementwise_cpu_over(call, op_in_shape(call, 0));
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) run_span(y, x, elementwise_cpu_at(&spans, i), sign);
    return ST_OK;
}

const OpImpl rotate_pairs_cpu[] = {
    {.name = "rotate_pairs_cpu", .declines = rows_cpu_declines_f64, .run = run}, {0}};
