#include "plan/plan_excerpt.h"

#include "base/array.h"

#include <stdlib.h>

typedef struct Work {
    Plan *out;
    const Plan *plan;
    int *ids; /* of each tensor of the plan: in `out`; PLAN_NONE: not there yet */
} Work;

static Status copy(Work *w, int id, bool written)
{
    if (id == PLAN_NONE || w->ids[id] != PLAN_NONE) return ST_OK;
    Tensor t = w->plan->tensors[id];
    if (t.base != PLAN_NONE) {
        TRY(copy(w, t.base, written));
        t.base = w->ids[t.base];
    }
    t.kind = written ? TK_ACTIVATION : TK_INPUT;
    t.keep = t.saved = false;
    t.upper = PLAN_NONE;
    return plan_add_tensor(w->out, &t, &w->ids[id]);
}

/* Inputs first: one that is written in place is an input, too. */
static Status copy_operands(Work *w, const Node *node)
{
    for (int i = 0; i < node->n_in; i++) TRY(copy(w, plan_in_id(w->plan, node, i), false));
    for (int i = 0; i < node->n_out; i++) TRY(copy(w, plan_out_id(w->plan, node, i), true));
    return ST_OK;
}

static Status add(Work *w, const Node *node)
{
    const int n = node->n_out + node->n_in, *from = &w->plan->operands[node->first];
    Node added = *node;
    TRY(copy_operands(w, node));
    CLEANUP(array_free) int *ids = malloc(((size_t)n + 1) * sizeof *ids);
    if (!ids) return NO_MEMORY("for %d operands", n);
    for (int i = 0; i < n; i++) ids[i] = from[i] == PLAN_NONE ? PLAN_NONE : w->ids[from[i]];
    added.phase = PHASE_FORWARD;
    added.recomputed = false;
    return plan_add_node(w->out, &added, ids, node->n_out, ids + node->n_out, node->n_in);
}

Status plan_excerpt(Plan *out, const Plan *plan, const bool *wanted)
{
    *out = (Plan){0};
    CLEANUP(array_free) int *ids = malloc(((size_t)plan->n_tensors + 1) * sizeof *ids);
    if (!ids) return NO_MEMORY("for %d tensors", plan->n_tensors);
    for (int i = 0; i < plan->n_tensors; i++) ids[i] = PLAN_NONE;
    Work w = {out, plan, ids};
    for (int i = 0; i < plan->n_nodes; i++) {
        if (wanted[i]) TRY(add(&w, &plan->nodes[i]));
    }
    return ST_OK;
}
