#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"

_Static_assert(ROWS_CHUNK % 2 == 0, "a chunk holds whole pairs");

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

static void kernel(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const NodeAttr *attr = args;
    rotate(out[0], in[0], chunk.n / 2, attr->inverse ? 1.0F : -1.0F);
}

static Status run(const OpCall *call)
{
    const Elementwise e = elementwise_cpu(call, 1, kernel, &call->node->attr);
    return elementwise_cpu_run(call, &e);
}

const OpImpl rotate_pairs_cpu[] = {
    {.name = "rotate_pairs_cpu", .declines = rows_cpu_declines_f64, .run = run}, {0}};
