#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "plan/step_state.h"

CPU_CLONES static void write_first(const void *args, float *const out[], const float *const in[],
                                   Chunk chunk)
{
    const float scale = *(const float *)args, *x = in[0];
    float *y = out[0];
#pragma omp simd
    for (int64_t i = 0; i < chunk.n; i++) y[i] = scale * x[i];
}

CPU_CLONES static void add_next(const void *args, float *const out[], const float *const in[],
                                Chunk chunk)
{
    const float scale = *(const float *)args, *x = in[0];
    float *y = out[0];
#pragma omp simd
    for (int64_t i = 0; i < chunk.n; i++) y[i] += scale * x[i];
}

static Status run(const OpCall *call)
{
    const double *state = op_in(call, 2);
    const float scale = (float)call->node->attr.scale;
    const bool first = state[STATE_MICRO_BATCH] == 0;
    const Elementwise e = elementwise_cpu(call, 1, first ? write_first : add_next, &scale);
    return elementwise_cpu_run(call, &e);
}

/* The sum is updated where it is. */
static const char *declines(const Plan *plan, const Node *node)
{
    const char *why = rows_cpu_refuse_f64(plan_out(plan, node, 0));
    return why ? why : rows_cpu_refuse_f64(plan_in(plan, node, 0));
}

const OpImpl accumulate_cpu[] = {{.name = "accumulate_cpu", .declines = declines, .run = run}, {0}};
