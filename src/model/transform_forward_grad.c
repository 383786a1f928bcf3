#include "model/stages.h"

/* What a node of the backward pass reads is saved, unless that pass made it. */
static void save_inputs(Plan *plan, const Node *node)
{
    for (int i = node->n_out + node->n_in; i-- > 0;) {
        const bool made_here = i < node->n_out;
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        Tensor *t = &plan->tensors[plan_storage(plan, id)];
        t->saved = !made_here && !plan_kind_persistent(t->kind);
    }
}

/* The forward pass makes those of a head in chunks. */
static void save_gradients(Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(plan, node, i);
        if (id == PLAN_NONE || plan->tensors[id].kind != TK_GRAD) continue;
        plan->tensors[plan_storage(plan, id)].saved = true;
    }
}

/* Nothing computes them any more. */
static void forget_gradients(Model *model)
{
    for (int i = 0; i < model->n_params; i++) model->params[i].grad = PLAN_NONE;
    for (int i = 0; i < model->n_groups; i++) model->groups[i].grad = PLAN_NONE;
    for (int i = 0; i < 3; i++) model->alone.dqkv[i] = PLAN_NONE;
    model->alone.dout = PLAN_NONE;
}

void transform_forward_grad(Builder *b, Model *model)
{
    Plan *plan = b->plan;
    int begin = 0, end = 0;
    plan_phase_nodes(plan, PHASE_BACKWARD, &begin, &end);
    if (begin == end) return;
    /* backwards, so that a tensor's maker comes after its readers */
    for (int n = end; n-- > begin;) save_inputs(plan, &plan->nodes[n]);
    plan->n_nodes = begin;
    for (int n = 0; n < begin; n++) save_gradients(plan, &plan->nodes[n]);
    forget_gradients(model);
}
