/* Spans of h1 and h3 at once; packed, they are two windows into the same rows. */
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"

typedef struct Halves {
    Operand h1, h3;
} Halves;

/* The second operand where there is one, else the right half of the first. */
static Halves halves(Operand first, Operand second, int64_t F)
{
    if (second.data) return (Halves){first, second};
    Operand right = first;
    right.data = rows_cpu_at(first.data, first.dtype, F);
    return (Halves){first, right};
}

CPU_CLONES static void gate(float *g, const float *h1, const float *h3, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) g[i] = h1[i] * vector_math_sigmoid(h1[i]) * h3[i];
}

static void gate_span(Operand g, Halves h, Span span)
{
    float a[ROWS_CHUNK], b[ROWS_CHUNK], out[ROWS_CHUNK];
    float *target = elementwise_cpu_target(g, span, out);
    gate(target, elementwise_cpu_read(h.h1, span, a), elementwise_cpu_read(h.h3, span, b), span.n);
    elementwise_cpu_finish(g, span, target);
}

static Status run(const OpCall *call)
{
    const Operand g = element_out(call, 0), second = element_in(call, 1);
    const Halves h = halves(element_in(call, 0), second, g.cols);
    const Spans spans = elementwise_cpu_make(g.rows, g.cols, second.data);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) gate_span(g, h, elementwise_cpu_at(&spans, i));
    return ST_OK;
}

CPU_CLONES static void gate_grad(float *dh1, float *dh3, const float *dg, const float *h1,
                                 const float *h3, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float x = h1[i], v = h3[i], s = vector_math_sigmoid(x), flow = dg[i] * s;
        dh1[i] = flow * v * (1.0F + x * (1.0F - s));
        dh3[i] = flow * x;
    }
}

static void grad_span(Halves d, Operand dg, Halves h, Span span)
{
    float a[ROWS_CHUNK], b[ROWS_CHUNK], c[ROWS_CHUNK], out1[ROWS_CHUNK], out3[ROWS_CHUNK];
    float *dh1 = elementwise_cpu_target(d.h1, span, out1),
          *dh3 = elementwise_cpu_target(d.h3, span, out3);
    gate_grad(dh1, dh3, elementwise_cpu_read(dg, span, a), elementwise_cpu_read(h.h1, span, b),
              elementwise_cpu_read(h.h3, span, c), span.n);
    elementwise_cpu_finish(d.h1, span, dh1);
    elementwise_cpu_finish(d.h3, span, dh3);
}

static Status run_grad(const OpCall *call)
{
    const Operand dg = element_in(call, 0), second = element_in(call, 2);
    const Halves h = halves(element_in(call, 1), second, dg.cols);
    const Halves d = halves(element_out(call, 0), element_out(call, 1), dg.cols);
    const Spans spans = elementwise_cpu_make(dg.rows, dg.cols, second.data);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) grad_span(d, dg, h, elementwise_cpu_at(&spans, i));
    return ST_OK;
}

const OpImpl swiglu_cpu[] = {{.name = "swiglu_cpu", .declines = rows_cpu_declines_f64, .run = run},
                             {0}};
const OpImpl swiglu_grad_cpu[] = {
    {.name = "swiglu_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_grad}, {0}};
