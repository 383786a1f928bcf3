/* AdamW over all parameters, in one pass over memory:
 *
 *     g = factor * grad            m += (1 - b1)(g - m)            v = b2 v + (1 - b2) g^2
 *     p = p (1 - lr wd) - step_size * m / (sqrt(v) / root_bias + eps)
 *
 * adamw  p0, m0, v0, copy0, p1, m1, v1, copy1, ... | g0, g1, ..., state
 *
 * One entry for each group of parameters; copy (absent in fp32) is p rounded for the products. A p of
 * DT_LOW16 is the lower half of parameters whose upper half the copy is.
 * factor, step_size and root_bias come from the step state (ops/adam_state.c); when the state says
 * that the step is skipped, nothing is written. Gradients are fp32 or 16 bit. */
#include "ops/adamw.h"

#include "ops/element.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

#include <math.h>

int adamw_groups(const Node *node)
{
    return node->n_in - 1;
}

static Status check(const Plan *plan, const Node *node)
{
    if (node->n_out != 4 * adamw_groups(node))
        return FAIL(ST_FAILED, "adamw: four outputs a group");
    for (int i = 0; i < node->n_out; i++) {
        const Tensor *out = plan_out(plan, node, i), *g = plan_in(plan, node, i / 4);
        if (out && plan_elements(out) != plan_elements(g)) {
            return FAIL(ST_FAILED, "adamw: '%s' and its gradient differ in size", out->name);
        }
        const Tensor *copy = plan_out(plan, node, i / 4 * 4 + 3);
        if (out && out->dtype == DT_LOW16 && (!copy || copy->dtype != DT_BF16)) {
            return FAIL(ST_FAILED, "adamw: the upper halves of '%s' are not there", out->name);
        }
    }
    return ST_OK;
}

bool adamw_split(const Plan *plan, const Node *node, int group)
{
    return plan_out(plan, node, 4 * group)->dtype == DT_LOW16;
}

/* Reads p, m, v, g and writes p, m, v and the copy, which is read too where it is half of p. */
static OpCost cost(const Plan *plan, const Node *node)
{
    OpCost cost = {0};
    for (int g = 0; g < adamw_groups(node); g++) {
        const Tensor *p = plan_out(plan, node, 4 * g), *m = plan_out(plan, node, 4 * g + 1);
        const Tensor *copy = plan_out(plan, node, 4 * g + 3);
        cost.flops += 14.0 * (double)plan_elements(p);
        cost.bytes += 2.0 * (double)plan_bytes(p) + 4.0 * (double)plan_bytes(m);
        cost.bytes += (double)plan_bytes(plan_in(plan, node, g));
        if (copy) cost.bytes += (adamw_split(plan, node, g) ? 2 : 1) * (double)plan_bytes(copy);
    }
    return cost;
}

/* Not inlined: with six dtypes to tell apart in one loop gcc follows every combination, for a minute. */
static __attribute__((noinline)) double get_parameter(Operand p, Operand copy, int64_t i)
{
    if (p.dtype != DT_LOW16) return element_get(p.data, p.dtype, i);
    return (double)float16_join(((uint16_t *)copy.data)[i], ((uint16_t *)p.data)[i]);
}

static __attribute__((noinline)) void set_parameter(Operand p, Operand copy, int64_t i, double x)
{
    element_set(p.data, p.dtype, i, x);
    if (p.dtype == DT_LOW16) {
        ((uint16_t *)copy.data)[i] = float16_upper((float)x);
    } else if (copy.data) {
        element_set(copy.data, copy.dtype, i, x);
    }
}

static void update(const OpCall *call, int group, const double *state)
{
    const Operand p = element_out(call, 4 * group), m = element_out(call, 4 * group + 1);
    const Operand v = element_out(call, 4 * group + 2), copy = element_out(call, 4 * group + 3);
    const Operand g = element_in(call, group);
    for (int64_t i = 0; i < p.rows * p.cols; i++) {
        const double d = element_get(g.data, g.dtype, i) * state[STATE_GRAD_FACTOR];
        const double m0 = element_get(m.data, m.dtype, i), v0 = element_get(v.data, v.dtype, i);
        const double m1 = m0 + (1 - STEP_STATE_BETA1) * (d - m0);
        const double v1 = STEP_STATE_BETA2 * v0 + (1 - STEP_STATE_BETA2) * d * d;
        const double root = sqrt(v1) / state[STATE_ROOT_BIAS] + STEP_STATE_EPSILON;
        const double kept = 1 - state[STATE_LR] * STEP_STATE_DECAY;
        const double p1 = get_parameter(p, copy, i) * kept - state[STATE_STEP_SIZE] * m1 / root;
        element_set(m.data, m.dtype, i, m1);
        element_set(v.data, v.dtype, i, v1);
        set_parameter(p, copy, i, p1);
    }
}

static Status reference(const OpCall *call)
{
    const int groups = adamw_groups(call->node);
    const double *state = op_in(call, groups);
    for (int g = 0; state[STATE_APPLY] != 0 && g < groups; g++) update(call, g, state);
    return ST_OK;
}

/* One group as PyTorch's single-tensor AdamW launches it; the groups' tensors are updated in place. */
static void decompose_group(Builder *b, const int *out, int g, int state)
{
    const int p = out[0], m = out[1], v = out[2], copy = out[3];
    const DType wide = builder_dtype(b, p);
    if (wide == DT_LOW16) { /* no framework has primitives for halves */
        builder_node(b, OP_adamw, out, 4, IDS(g, state));
        return;
    }
    const int root = builder_like(b, "sqrt(v)", v, wide),
              bias = builder_like(b, "unbiased", v, wide);
    const int denominator = builder_like(b, "denominator", v, wide);
    builder_node(b, OP_adamw_part, IDS(p), IDS(p, state))->fn = FN_DECAY;
    builder_node(b, OP_adamw_part, IDS(m), IDS(m, g, state))->fn = FN_MOMENT1;
    builder_node(b, OP_adamw_part, IDS(v), IDS(v, state))->fn = FN_MOMENT2A;
    builder_node(b, OP_adamw_part, IDS(v), IDS(v, g, state))->fn = FN_MOMENT2B;
    builder_node(b, OP_adamw_part, IDS(root), IDS(v, state))->fn = FN_ROOT;
    builder_node(b, OP_adamw_part, IDS(bias), IDS(root, state))->fn = FN_BIAS;
    builder_node(b, OP_adamw_part, IDS(denominator), IDS(bias, state))->fn = FN_EPSILON;
    builder_node(b, OP_adamw_part, IDS(p), IDS(p, m, denominator, state))->fn = FN_UPDATE;
    if (copy != PLAN_NONE) builder_node(b, OP_cast, IDS(copy), IDS(p));
}

static void decompose(Builder *b, const Node *node)
{
    const int groups = adamw_groups(node);
    const int state = plan_in_id(b->plan, node, groups);
    for (int g = 0; g < groups; g++) {
        int out[4];
        for (int i = 0; i < 4; i++) out[i] = plan_out_id(b->plan, node, 4 * g + i);
        decompose_group(b, out, plan_in_id(b->plan, node, g), state);
    }
}

const OpDef adamw_def = {
    OP_SOURCE, .check = check, .cost = cost, .decompose = decompose, .reference = reference,
};
