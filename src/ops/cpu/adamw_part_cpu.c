#include "ops/cpu/elementwise_cpu.h"
#include "ops/cpu/impls_cpu.h"
#include "plan/functions.h"
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

/* Out, then up to three tensors, then the state: absent ones have no data. */
typedef struct Part {
    int fn;
    Operand out, x, a, b;
    Factors f;
} Part;

static void run_span(const Part *p, Span span)
{
    float in[3][ROWS_CHUNK], result[ROWS_CHUNK];
    float *out = elementwise_cpu_target(p->out, span, result);
    apply_part(p->fn, out, elementwise_cpu_read(p->x, span, in[0]),
               p->a.data ? elementwise_cpu_read(p->a, span, in[1]) : NULL,
               p->b.data ? elementwise_cpu_read(p->b, span, in[2]) : NULL, span.n, &p->f);
    elementwise_cpu_finish(p->out, span, out);
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
    const Part p = {.fn = fn,
                    .out = element_out(call, 0),
                    .x = element_in(call, 0),
                    .a = n_tensors > 1 ? element_in(call, 1) : (Operand){0},
                    .b = n_tensors > 2 ? element_in(call, 2) : (Operand){0},
                    .f = factors(state)};
    const Spans spans = elementwise_cpu_make(p.x.rows, p.x.cols, true);
#pragma omp parallel for schedule(dynamic, 8) num_threads(call->threads)
    for (int64_t i = 0; i < spans.count; i++) run_span(&p, elementwise_cpu_at(&spans, i));
    return ST_OK;
}

/* The state is float64 always; p, m and v stay where they are. */
static const char *declines(const Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_in - 1; i++) {
        if (plan_in(plan, node, i)->dtype == DT_F64) return "float64 has the reference only";
    }
    const bool moved = plan_out_id(plan, node, 0) != plan_in_id(plan, node, 0);
    return updates_in_place(node->attr.fn) && moved ? "it updates in place" : NULL;
}

const OpImpl adamw_part_cpu[] = {{.name = "adamw_part_cpu", .declines = declines, .run = run}, {0}};
