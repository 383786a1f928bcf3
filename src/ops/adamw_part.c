/* One primitive of AdamW (attr.fn, plan/op_functions.h), as an eager framework launches them in turn:
 *
 *     FN_DECAY     p | p, state             p (1 - lr decay)
 *     FN_MOMENT1   m | m, g, state          m + (g - m)(1 - beta1)
 *     FN_MOMENT2A  v | v, state             v beta2
 *     FN_MOMENT2B  v | v, g, state          v + g g (1 - beta2)
 *     FN_ROOT      d | v, state             sqrt(v)
 *     FN_BIAS      d | d, state             d / sqrt(1 - beta2^t)
 *     FN_EPSILON   d | d, state             d + eps
 *     FN_UPDATE    p | p, m, d, state       p - step_size m / d
 *
 * state is plan/step_state.h. g is first multiplied by STATE_GRAD_FACTOR. When STATE_APPLY is 0 the
 * step is skipped: p, m and v stay as they are. */
#include "ops/elementwise.h"
#include "ops/op_check.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

#include <math.h>

/* Tensors before the state: the one that is updated, and what it is updated with. */
static int operands(int fn)
{
    if (fn == FN_UPDATE) return 3;
    return fn == FN_MOMENT1 || fn == FN_MOMENT2B ? 2 : 1;
}

static Status check(const Plan *plan, const Node *node)
{
    const int fn = node->attr.fn;
    if (fn < FN_DECAY || fn > FN_UPDATE) {
        return FAIL(ST_FAILED, "adamw_part (%s): there is no part %d", node->scope, fn);
    }
    TRY(op_check_dense(plan, node, 1, operands(fn) + 1));
    const int64_t n = plan_elements(plan_out(plan, node, 0));
    for (int i = 0; i < operands(fn); i++) {
        TRY(op_check_elements(node, "operand", plan_in(plan, node, i), n));
    }
    const Tensor *state = plan_in(plan, node, operands(fn));
    TRY(op_check_dtype(node, "state", state, DT_F64));
    return op_check_elements(node, "state", state, STATE_COUNT);
}

static OpCost cost(const Plan *plan, const Node *node)
{
    static const double flops[] = {
        [FN_DECAY] = 1, [FN_MOMENT1] = 4, [FN_MOMENT2A] = 1, [FN_MOMENT2B] = 4,
        [FN_ROOT] = 1,  [FN_BIAS] = 1,    [FN_EPSILON] = 1,  [FN_UPDATE] = 3};
    return (OpCost){.flops = flops[node->attr.fn] * (double)plan_elements(plan_out(plan, node, 0))};
}

static double value(int fn, const double *state, double x, double a, double b)
{
    if (state[STATE_APPLY] == 0 && op_functions_in_place(fn)) return x;
    const double g = a * state[STATE_GRAD_FACTOR];
    switch (fn) {
    case FN_DECAY:
        return x * (1 - state[STATE_LR] * STEP_STATE_DECAY);
    case FN_MOMENT1:
        return x + (g - x) * (1 - STEP_STATE_BETA1);
    case FN_MOMENT2A:
        return x * STEP_STATE_BETA2;
    case FN_MOMENT2B:
        return x + g * g * (1 - STEP_STATE_BETA2);
    case FN_ROOT:
        return sqrt(x);
    case FN_BIAS:
        return x / state[STATE_ROOT_BIAS];
    case FN_EPSILON:
        return x + STEP_STATE_EPSILON;
    case FN_UPDATE:
        return x - state[STATE_STEP_SIZE] * a / b;
    default:
        return NAN;
    }
}

static Status reference(const OpCall *call)
{
    const int fn = call->node->attr.fn, n_operands = operands(fn);
    const Operand out = element_out(call, 0), x = element_in(call, 0);
    const Operand a = n_operands > 1 ? element_in(call, 1) : x;
    const Operand b = n_operands > 2 ? element_in(call, 2) : x;
    const double *state = op_in(call, n_operands);
    const int64_t n = x.rows * x.cols;
    for (int64_t i = 0; i < n; i++) {
        elementwise_put(
            out, i,
            value(fn, state, elementwise_get(x, i), elementwise_get(a, i), elementwise_get(b, i)));
    }
    return ST_OK;
}

/* d may take over d, part after part; p, m and v are updated where they are. */
const OpDef adamw_part_def = {
    OP_SOURCE,      .alias = {{0, 0}}, .n_aliases = 1,
    .check = check, .cost = cost,      .reference = reference,
};
