#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

#include <math.h>

typedef struct Args {
    int fn;
    float decay, grad, keep1, keep2, root_bias, step_size;
} Args;

CPU_CLONES static void apply_part(Args f, float *out, const float *x, const float *a,
                                  const float *b, int64_t n)
{
    const float beta2 = (float)STEP_STATE_BETA2, epsilon = (float)STEP_STATE_EPSILON;
    switch (f.fn) {
        ELEMENTWISE_CASE(FN_DECAY, out, x[i] * f.decay);
        ELEMENTWISE_CASE(FN_MOMENT1, out, x[i] + (f.grad * a[i] - x[i]) * f.keep1);
        ELEMENTWISE_CASE(FN_MOMENT2A, out, x[i] * beta2);
        ELEMENTWISE_CASE(FN_MOMENT2B, out, x[i] + (f.grad * a[i]) * (f.grad * a[i]) * f.keep2);
        ELEMENTWISE_CASE(FN_ROOT, out, sqrtf(x[i]));
        ELEMENTWISE_CASE(FN_BIAS, out, x[i] / f.root_bias);
        ELEMENTWISE_CASE(FN_EPSILON, out, x[i] + epsilon);
        ELEMENTWISE_CASE(FN_UPDATE, out, x[i] - f.step_size * a[i] / b[i]);
    default:
        break;
    }
}

static void kernel(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    apply_part(*(const Args *)args, out[0], in[0], in[1], in[2], chunk.n);
}

static Status run(const OpCall *call)
{
    const int n_tensors = call->node->n_in - 1, fn = call->node->attr.fn;
    const double *state = op_in(call, n_tensors);
    if (state[STATE_APPLY] == 0 && op_functions_in_place(fn))
        return ST_OK; /* the step is skipped */
    const Args args = {
        .fn = fn,
        .decay = (float)(1 - state[STATE_LR] * STEP_STATE_DECAY),
        .grad = (float)state[STATE_GRAD_FACTOR],
        .keep1 = (float)(1 - STEP_STATE_BETA1),
        .keep2 = (float)(1 - STEP_STATE_BETA2),
        .root_bias = (float)state[STATE_ROOT_BIAS],
        .step_size = (float)state[STATE_STEP_SIZE],
    };
    const Elementwise e = elementwise_cpu(call, n_tensors, kernel, &args);
    return elementwise_cpu_run(call, &e);
}

/* p, m and v stay where they are. */
static const char *declines(const Plan *plan, const Node *node)
{
    const bool moved = plan_out_id(plan, node, 0) != plan_in_id(plan, node, 0);
    if (op_functions_in_place(node->attr.fn) && moved) return "it updates in place";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl adamw_part_cpu[] = {{.name = "adamw_part_cpu", .declines = declines, .run = run}, {0}};
