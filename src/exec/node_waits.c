#include "exec/node_waits.h"

#include "base/array.h"

#include <stdlib.h>

/* Memory of the arena that a communication node may still use when its tensor is no longer alive. */
typedef struct Left {
    size_t begin, end;
    int node;
    int next; /* of those whose tensors die in the same moment; PLAN_NONE: none */
} Left;

typedef struct Waits {
    const Binding *binding;
    int *last;  /* communication node of each storage tensor; PLAN_NONE: none */
    int *dying; /* at each node: the first of `left` whose tensor is dead from here on */
    Left *left; /* operands of all communication nodes so far */
    int *dead;  /* those in `left` that nobody has waited for */
    int n_left, n_dead, done;
} Waits;

static int operand(const Plan *plan, const Node *node, int i)
{
    const int id = plan->operands[node->first + i];
    return id == PLAN_NONE ? PLAN_NONE : plan_storage(plan, id);
}

static bool in_arena(const Plan *plan, int storage)
{
    return !plan_kind_persistent(plan->tensors[storage].kind);
}

static void communicate(Waits *w, int n)
{
    const Plan *plan = w->binding->plan;
    const MemPlan *mem = &w->binding->mem;
    const Node *node = &plan->nodes[n];
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int s = operand(plan, node, i);
        if (s == PLAN_NONE) continue;
        w->last[s] = n;
        if (!in_arena(plan, s)) continue;
        int *first = &w->dying[mem->last[s] + 1];
        const size_t begin = mem->offset[s];
        w->left[w->n_left] =
            (Left){begin, begin + plan_storage_bytes(&plan->tensors[s]), n, *first};
        *first = w->n_left++;
    }
}

static void bury(Waits *w, int n)
{
    for (int i = w->dying[n]; i != PLAN_NONE; i = w->left[i].next) {
        if (w->left[i].node > w->done) w->dead[w->n_dead++] = i;
    }
}

/* The last node that may still use these bytes of the arena. */
static int user_of(const Waits *w, size_t begin, size_t end, int user)
{
    for (int i = 0; i < w->n_dead; i++) {
        const Left *left = &w->left[w->dead[i]];
        if (left->begin < end && begin < left->end && left->node > user) user = left->node;
    }
    return user;
}

static int wait_of(const Waits *w, int n)
{
    const Binding *binding = w->binding;
    const Plan *plan = binding->plan;
    const Node *node = &plan->nodes[n];
    const size_t at = binding->mem.workspace[n];
    int wait = user_of(w, at, at + binding->workspace[n], PLAN_NONE);
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int s = operand(plan, node, i);
        if (s == PLAN_NONE) continue;
        if (w->last[s] > wait) wait = w->last[s];
        if (!in_arena(plan, s)) continue;
        const size_t begin = binding->mem.offset[s];
        wait = user_of(w, begin, begin + plan_storage_bytes(&plan->tensors[s]), wait);
    }
    return wait;
}

static void forget_done(Waits *w)
{
    int kept = 0;
    for (int i = 0; i < w->n_dead; i++) {
        if (w->left[w->dead[i]].node > w->done) w->dead[kept++] = w->dead[i];
    }
    w->n_dead = kept;
}

/* A collective of the first queue waits for all of the second: ranks run them in one order, one at a time. */
static void find(Waits *w)
{
    const Binding *binding = w->binding;
    int sent = PLAN_NONE;
    for (int n = 0; n < binding->plan->n_nodes; n++) {
        bury(w, n);
        binding->waits[n] = PLAN_NONE;
        if (binding->plan->nodes[n].queue == QUEUE_COMMUNICATION) {
            communicate(w, n);
            sent = n;
            continue;
        }
        const bool sends = plan_op_category(binding->plan->nodes[n].op) == CATEGORY_communication;
        const int wait = sends ? sent : wait_of(w, n);
        if (wait <= w->done) continue;
        binding->waits[n] = w->done = wait;
        forget_done(w);
    }
}

/* Operands of communication nodes. */
static size_t count_operands(const Plan *plan)
{
    size_t n = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->queue == QUEUE_COMMUNICATION) n += (size_t)(node->n_out + node->n_in);
    }
    return n;
}

Status node_waits_find(Binding *binding)
{
    const Plan *plan = binding->plan;
    const size_t nodes = (size_t)plan->n_nodes + 2, tensors = (size_t)plan->n_tensors + 1;
    const size_t n = count_operands(plan) + 1;
    CLEANUP(array_free) int *last = malloc(tensors * sizeof *last);
    CLEANUP(array_free) int *dying = malloc(nodes * sizeof *dying);
    CLEANUP(array_free) Left *left = malloc(n * sizeof *left);
    CLEANUP(array_free) int *dead = malloc(n * sizeof *dead);
    if (!last || !dying || !left || !dead) return NO_MEMORY("for %d nodes", plan->n_nodes);
    for (size_t i = 0; i < tensors; i++) last[i] = PLAN_NONE;
    for (size_t i = 0; i < nodes; i++) dying[i] = PLAN_NONE;
    Waits w = {binding, last, dying, left, dead, 0, 0, PLAN_NONE};
    find(&w);
    return ST_OK;
}
