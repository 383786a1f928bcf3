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
    case FN_DECAY:
        ELEMENTWISE_CASE(out, x[i] * f.decay);
    case FN_MOMENT1:
        ELEMENTWISE_CASE(out, x[i] + (f.grad * a[i] - x[i]) * f.keep1);
    case FN_MOMENT2A:
        ELEMENTWISE_CASE(out, x[i] * beta2);
    case FN_MOMENT2B:
        ELEMENTWISE_CASE(out, x[i] + (f.grad * a[i]) * (f.grad * a[i]) * f.keep2);
    case FN_ROOT:
        ELEMENTWISE_CASE(out, sqrtf(x[i]));
    case FN_BIAS:
        ELEMENTWISE_CASE(out, x[i] / f.root_bias);
    case FN_EPSILON:
        ELEMENTWISE_CASE(out, x[i] + epsilon);
    case FN_UPDATE:
        ELEMENTWISE_CASE(out, x[i] - f.step_size * a[i] / b[i]);
    default:
        break;
    }
}

static void kernel(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    apply_part(*(const Args *)args, out[0], in[0], in[1], in[2], chunk.n);
}

static bool updates_in_place(int fn)
{
    return fn != FN_ROOT && fn != FN_BIAS && fn != FN_EPSILON;
}

static Status run(const OpCall *call)
{
    const int n_tensors = call->node->n_in - 1, fn = call->node->attr.fn;
    const double *state = op_in(call, n_tensors);
    if (state[STATE_APPLY] == 0 && updates_in_place(fn)) return ST_OK; /* the step is skipped */
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

/* The state is float64 always; p, m and v stay where they are. */
static const char *declines(const Plan *plan, const Node *node)
{
    const char *why = NULL;
    for (int i = 0; !why && i < node->n_in - 1; i++)
        why = rows_cpu_refuse_f64(plan_in(plan, node, i));
    const bool moved = plan_out_id(plan, node, 0) != plan_in_id(plan, node, 0);
    return !why && updates_in_place(node->attr.fn) && moved ? "it updates in place" : why;
}

const OpImpl adamw_part_cpu[] = {{.name = "adamw_part_cpu", .declines = declines, .run = run}, {0}};
