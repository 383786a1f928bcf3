/* h1 and h3 are two operands, or the two halves of each row of one. */
#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/vector_math.h"
#include "plan/op_functions.h"

/* Makes h[0] and h[1] the operands of h1 and h3, each F wide, where h[0] may hold both. */
static void split_halves(Operand h[2], int64_t F)
{
    if (h[1].data) return;
    h[0].cols = F;
    h[1] = h[0];
    h[1].data = rows_cpu_at(h[0].data, h[0].dtype, F);
}

CPU_CLONES static void gate(float *g, const float *h1, const float *h3, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) g[i] = h1[i] * vector_math_sigmoid(h1[i]) * h3[i];
}

static void forward(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    (void)args;
    gate(out[0], in[0], in[1], chunk.n);
}

static Status run(const OpCall *call)
{
    Elementwise e = elementwise_cpu(call, 2, forward, NULL);
    e.flat = e.in[1].data;
    split_halves(e.in, e.out[0].cols);
    return elementwise_cpu_run(call, &e);
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

/* And g once more, where dg may be. */
CPU_CLONES static void gate_grad_and_gate(float *dh1, float *dh3, float *g, const float *dg,
                                          const float *h1, const float *h3, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const float x = h1[i], v = h3[i], s = vector_math_sigmoid(x), flow = dg[i] * s;
        dh1[i] = flow * v * (1.0F + x * (1.0F - s));
        dh3[i] = flow * x;
        g[i] = x * s * v;
    }
}

static void backward(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    (void)args;
    if (out[SWIGLU_GRAD_G]) {
        gate_grad_and_gate(out[0], out[1], out[SWIGLU_GRAD_G], in[0], in[1], in[2], chunk.n);
    } else {
        gate_grad(out[0], out[1], in[0], in[1], in[2], chunk.n);
    }
}

static Status run_grad(const OpCall *call)
{
    Elementwise e = elementwise_cpu(call, 3, backward, NULL);
    const int64_t F = e.in[0].cols;
    e.out[1] = element_out(call, 1);
    e.out[SWIGLU_GRAD_G] = element_out(call, SWIGLU_GRAD_G);
    e.flat = e.in[2].data;
    split_halves(e.in + 1, F);
    split_halves(e.out, F);
    return elementwise_cpu_run(call, &e);
}

const OpImpl swiglu_cpu[] = {{.name = "swiglu_cpu", .declines = rows_cpu_declines_f64, .run = run},
                             {0}};
const OpImpl swiglu_grad_cpu[] = {
    {.name = "swiglu_grad_cpu", .declines = rows_cpu_declines_f64, .run = run_grad}, {0}};
