#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

#include <math.h>

typedef struct Factors {
    float decay, grad, keep1, keep2, root_bias, step_size;
} Factors;

static Factors factors(const double *state)
{
    return (Factors){
        .decay = (float)(1 - state[STATE_LR] * STEP_STATE_DECAY),
        .grad = (float)state[STATE_GRAD_FACTOR],
        .keep1 = (float)(1 - STEP_STATE_BETA1),
        .keep2 = (float)(1 - STEP_STATE_BETA2),
        .root_bias = (float)state[STATE_ROOT_BIAS],
        .step_size = (float)state[STATE_STEP_SIZE],
    };
}

/* out may be x: each element is read before it is written. */
#define EACH(result)                                                     \
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = result; \
    break

CPU_CLONES static void apply_part(int fn, float *out, const float *x, const float *a,
                                  const float *b, int64_t n, const Factors *f)
{
    const float decay = f->decay, grad = f->grad, keep1 = f->keep1, keep2 = f->keep2;
    const float root_bias = f->root_bias, step_size = f->step_size;
    const float beta2 = (float)STEP_STATE_BETA2, epsilon = (float)STEP_STATE_EPSILON;
    switch (fn) {
    case FN_DECAY:
        EACH(x[i] * decay);
    case FN_MOMENT1:
        EACH(x[i] + (grad * a[i] - x[i]) * keep1);
    case FN_MOMENT2A:
        EACH(x[i] * beta2);
    case FN_MOMENT2B:
        EACH(x[i] + (grad * a[i]) * (grad * a[i]) * keep2);
    case FN_ROOT:
        EACH(sqrtf(x[i]));
    case FN_BIAS:
        EACH(x[i] / root_bias);
    case FN_EPSILON:
        EACH(x[i] + epsilon);
    case FN_UPDATE:
        EACH(x[i] - step_size * a[i] / b[i]);
    default:
        break;
    }
}

typedef struct Args {
    int fn;
    Factors factors;
} Args;

static void kernel(const void *args, float *const out[], const float *const in[], Chunk chunk)
{
    const Args *a = args;
    apply_part(a->fn, out[0], in[0], in[1], in[2], chunk.n, &a->factors);
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
    const Args args = {fn, factors(state)};
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
