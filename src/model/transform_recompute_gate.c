#include "model/stages.h"
#include "plan/op_functions.h"

/* A gate and its gradient: node numbers and tensors of the plan. */
typedef struct Gate {
    int gradient; /* the node swiglu_grad */
    int reader;   /* the node of the backward pass that reads g, before it: the weight's gradient */
    int g;
} Gate;

/* What the forward pass makes of h1 (h); PLAN_NONE where it is made of something else. */
static int gate_of(const Plan *plan, int h1)
{
    for (int i = 0; i < plan->n_nodes && plan->nodes[i].phase <= PHASE_FORWARD; i++) {
        const Node *node = &plan->nodes[i];
        if (node->op == OP_swiglu && plan_in_id(plan, node, 0) == h1)
            return plan_out_id(plan, node, 0);
    }
    return PLAN_NONE;
}

static bool shares_memory(const Plan *plan, int a, int b)
{
    return a != PLAN_NONE && b != PLAN_NONE && plan_storage(plan, a) == plan_storage(plan, b);
}

static bool uses(const Plan *plan, const Node *node, int id)
{
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        if (shares_memory(plan, plan->operands[node->first + i], id)) return true;
    }
    return false;
}

/* The only node of [begin, end) that uses `id`, or PLAN_NONE. */
static int only_user(const Plan *plan, int begin, int end, int id)
{
    int found = PLAN_NONE;
    for (int i = begin; i < end; i++) {
        if (!uses(plan, &plan->nodes[i], id)) continue;
        if (found != PLAN_NONE) return PLAN_NONE;
        found = i;
    }
    return found;
}

/* Nothing up to the gate's gradient uses what the reader makes, so it can run after that. */
static bool can_wait(const Plan *plan, const Gate *gate)
{
    const Node *reader = &plan->nodes[gate->reader];
    for (int i = gate->reader + 1; i <= gate->gradient; i++) {
        for (int o = 0; o < reader->n_out; o++) {
            if (uses(plan, &plan->nodes[i], plan_out_id(plan, reader, o))) return false;
        }
    }
    return true;
}

static bool find_gate(const Plan *plan, int node, int begin, int end, Gate *gate)
{
    *gate = (Gate){.gradient = node, .g = gate_of(plan, plan_in_id(plan, &plan->nodes[node], 1))};
    if (gate->g == PLAN_NONE) return false;
    gate->reader = only_user(plan, begin, end, gate->g);
    return gate->reader != PLAN_NONE && gate->reader < node && can_wait(plan, gate);
}

/* The gradient makes g, and the reader reads that and runs after it. */
static void make_again(Builder *b, const Gate *gate)
{
    Plan *plan = b->plan;
    const int again = builder_like(b, "g again", gate->g, builder_dtype(b, gate->g));
    if (b->status != ST_OK) return;
    const Node reader = plan->nodes[gate->reader];
    for (int i = reader.first + reader.n_out; i < reader.first + reader.n_out + reader.n_in; i++) {
        if (plan->operands[i] == gate->g) plan->operands[i] = again;
    }
    plan->operands[plan->nodes[gate->gradient].first + SWIGLU_GRAD_G] = again;
    for (int i = gate->reader; i < gate->gradient; i++) plan->nodes[i] = plan->nodes[i + 1];
    plan->nodes[gate->gradient] = reader;
}

void transform_recompute_gate(Builder *b)
{
    int begin = 0, end = 0;
    plan_phase_nodes(b->plan, PHASE_BACKWARD, &begin, &end);
    for (int i = begin; i < end && b->status == ST_OK; i++) {
        Gate gate;
        if (b->plan->nodes[i].op == OP_swiglu_grad && find_gate(b->plan, i, begin, end, &gate))
            make_again(b, &gate);
    }
}
