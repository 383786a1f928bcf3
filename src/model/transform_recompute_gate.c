#include "base/array.h"
#include "model/stages.h"
#include "plan/op_functions.h"

#include <stdlib.h>

/* A gate and its gradient: node numbers and tensors of the plan. */
typedef struct Gate {
    int gradient; /* the node swiglu_grad */
    int reader;   /* the node of the backward pass that reads g, before it: the weight's gradient */
    int g;
} Gate;

/* Of each tensor that has memory of its own. */
typedef struct Use {
    int gate;   /* of an h1 (h): what the forward pass's gate makes of it; PLAN_NONE: nothing */
    int reader; /* the last node of the backward pass that uses it, or PLAN_NONE */
    int readers;
} Use;

static bool uses(const Plan *plan, const Node *node, int id)
{
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int other = plan->operands[node->first + i];
        if (other != PLAN_NONE && plan_storage(plan, other) == plan_storage(plan, id)) return true;
    }
    return false;
}

static void note_readers(const Plan *plan, int n, Use *found)
{
    const Node *node = &plan->nodes[n];
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        Use *use = &found[plan_storage(plan, id)];
        use->readers += use->reader != n;
        use->reader = n;
    }
}

static void find_uses(const Plan *plan, Use *found)
{
    for (int i = 0; i < plan->n_tensors; i++) found[i] = (Use){PLAN_NONE, PLAN_NONE, 0};
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->phase == PHASE_FORWARD && node->op == OP_swiglu)
            found[plan_in_id(plan, node, 0)].gate = plan_out_id(plan, node, 0);
        if (node->phase == PHASE_BACKWARD) note_readers(plan, n, found);
    }
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

static bool find_gate(const Plan *plan, int node, const Use *found, Gate *gate)
{
    *gate = (Gate){.gradient = node, .g = found[plan_in_id(plan, &plan->nodes[node], 1)].gate};
    if (gate->g == PLAN_NONE) return false;
    const Use *g = &found[plan_storage(plan, gate->g)];
    gate->reader = g->reader;
    return g->readers == 1 && gate->reader < node && can_wait(plan, gate);
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

/* Nodes before the gate's gradient move, those after it stay: what was found of them holds. */
void transform_recompute_gate(Builder *b)
{
    int begin = 0, end = 0;
    const int n_tensors = b->plan->n_tensors;
    plan_phase_nodes(b->plan, PHASE_BACKWARD, &begin, &end);
    CLEANUP(array_free) Use *found = calloc((size_t)n_tensors + 1, sizeof *found);
    if (!found) {
        b->status = NO_MEMORY("to plan the gates");
        return;
    }
    find_uses(b->plan, found);
    for (int i = begin; i < end && b->status == ST_OK; i++) {
        Gate gate;
        if (b->plan->nodes[i].op == OP_swiglu_grad && find_gate(b->plan, i, found, &gate))
            make_again(b, &gate);
    }
}
