/* Sums over blocks of fixed size, added in order: the norm does not depend on the number of threads. */
#include "base/i64.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/simd_cpu/rows_cpu.h"
#include "plan/step_state.h"

#include <math.h>

enum { BLOCK = 16 * ROWS_CHUNK };

static int64_t blocks(const Tensor *t)
{
    return i64_ceil_div(plan_elements(t), BLOCK);
}

static size_t workspace(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    int64_t n = 0;
    for (int g = 0; g < node->n_in - 1; g++) n += blocks(plan_in(plan, node, g));
    return (size_t)n * sizeof(double);
}

/* Squares in double: fp32 gradients may be as large as 1e38. */
CPU_CLONES static double squares(const float *x, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sum;
}

static double block_sum(const void *data, const Tensor *t, int64_t block)
{
    const int64_t begin = block * BLOCK, end = i64_min(begin + BLOCK, plan_elements(t));
    float buffer[ROWS_CHUNK];
    double sum = 0;
    for (int64_t i = begin; i < end; i += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, end - i);
        sum += squares(rows_cpu_read(rows_cpu_at(data, t->dtype, i), t->dtype, n, buffer), n);
    }
    return sum;
}

typedef struct Sums {
    const void *data;
    const Tensor *tensor;
    double *partial; /* sum of each block */
} Sums;

static void sum_blocks(const void *data, int64_t first, int64_t last, int thread)
{
    const Sums *s = data;
    (void)thread;
    for (int64_t i = first; i < last; i++) s->partial[i] = block_sum(s->data, s->tensor, i);
}

static Status run(const OpCall *call)
{
    double *partial = call->workspace, *state = op_out(call, 0), sum = 0;
    int64_t before = 0;
    for (int g = 0; g < call->node->n_in - 1; g++) {
        const Tensor *t = op_in_shape(call, g);
        thread_team_for(call->threads, blocks(t), 1, sum_blocks,
                        &(Sums){op_in(call, g), t, partial + before});
        before += blocks(t);
    }
    for (int64_t i = 0; i < before; i++) sum += partial[i];
    state[STATE_SQUARED_NORM] = sum;
    state[STATE_NONFINITE] = isfinite(sum) ? 0 : 1;
    return ST_OK;
}

const OpImpl grad_norm_cpu[] = {{"grad_norm_cpu", rows_cpu_declines_f64, workspace, run}, {0}};
