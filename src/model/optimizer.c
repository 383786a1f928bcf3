#include "base/array.h"
#include "model/stages.h"
#include "plan/step_state.h"

#include <stdlib.h>

bool optimizer_needs_norm(const Config *config)
{
    return config->clip > 0 || config_scales_loss(config);
}

typedef struct Operands {
    int *out, *in;
    int n; /* groups */
    int *
        sent; /* of every group: the node that sends its gradient beside the backward pass; PLAN_NONE: none */
} Operands;

static bool is_sharded(const Model *m)
{
    return m->config.ranks > 1 && config_parallel_shards(m->config.parallel);
}

static int own_or_all(int own, int all)
{
    return own == PLAN_NONE ? all : own;
}

static int gradient_of(const ParamGroup *group)
{
    return own_or_all(group->own.grad, group->grad);
}

/* out: p, m, v, copy of each group. */
static void add_group(Operands *o, const ParamGroup *g)
{
    o->out[4 * o->n] = own_or_all(g->own.flat, g->flat);
    o->out[4 * o->n + 1] = g->m;
    o->out[4 * o->n + 2] = g->v;
    o->out[4 * o->n + 3] = own_or_all(g->own.copy, g->copy);
    o->in[o->n++] = gradient_of(g);
}

static void find_sent(Operands *o, const Plan *plan, const Model *m)
{
    for (int i = 0; i < m->n_groups; i++) o->sent[i] = PLAN_NONE;
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->queue != QUEUE_COMMUNICATION || node->op != OP_all_reduce) continue;
        const int storage = plan_storage(plan, plan_out_id(plan, node, 0));
        for (int i = 0; i < m->n_groups; i++) {
            if (plan_storage(plan, gradient_of(&m->groups[i])) == storage) o->sent[i] = n;
        }
    }
}

/* in: the gradients of the groups, then the step state. Groups of whose parameters this rank has none are
 * left out. */
static void find_operands(Operands *o, const Plan *plan, const Model *m, bool all, int sent)
{
    o->n = 0;
    for (int i = 0; i < m->n_groups; i++) {
        const ParamGroup *g = &m->groups[i];
        if (is_sharded(m) && plan_shard(plan, g->used).count == 0) continue;
        if (all || o->sent[i] == sent) add_group(o, g);
    }
    o->in[o->n] = m->state;
}

/* Of all shards. */
static void sum_norm(Builder *b, const Model *m)
{
    _Static_assert(STATE_SQUARED_NORM == STATE_NONFINITE + 1, "they travel together");
    const int found = builder_view(b, "norm of gradients", m->state, STATE_NONFINITE, DIMS(2), 2);
    builder_scope(b, PLAN_NONE, "ranks/all_reduce");
    builder_node(b, OP_all_reduce, IDS(found), IDS(found))->scale = 1;
}

static void append_norm(Builder *b, const Model *m, Operands *o)
{
    builder_scope(b, PLAN_NONE, "optimizer/norm");
    if (optimizer_needs_norm(&m->config)) {
        find_operands(o, b->plan, m, true, PLAN_NONE);
        builder_node(b, OP_grad_norm, IDS(m->state), o->in, o->n + 1);
        if (is_sharded(m)) sum_norm(b, m);
    }
    transform_fp8_end(b, m, optimizer_needs_norm(&m->config));
    builder_scope(b, PLAN_NONE, "optimizer/state");
    builder_node(b, OP_adam_state, IDS(m->state), IDS(m->state));
}

/* One AdamW for the gradients that travel together. */
static void append_adamw(Builder *b, const Model *m, Operands *o, int sent)
{
    find_operands(o, b->plan, m, false, sent);
    if (o->n == 0) return;
    builder_scope(b, PLAN_NONE, "optimizer/adamw");
    builder_node(b, OP_adamw, o->out, 4 * o->n, o->in, o->n + 1);
    if (b->status != ST_OK) return;
    const Node adamw = b->plan->nodes[--b->plan->n_nodes];
    transform_decompose_node(b, m, &adamw);
}

/* In the order in which gradients arrive, so that the last ones travel while the others are used. */
static void append(Builder *b, const Model *m, Operands *o)
{
    b->phase = PHASE_OPTIMIZER;
    find_sent(o, b->plan, m);
    append_norm(b, m, o);
    const int n_nodes = b->plan->n_nodes;
    append_adamw(b, m, o, PLAN_NONE);
    for (int n = 0; n < n_nodes && b->status == ST_OK; n++) {
        if (b->plan->nodes[n].queue == QUEUE_COMMUNICATION) append_adamw(b, m, o, n);
    }
}

void optimizer_build(Builder *b, const Model *model)
{
    CLEANUP(array_free) int *out = malloc((size_t)model->n_groups * 4 * sizeof *out);
    CLEANUP(array_free) int *in = malloc((size_t)(model->n_groups + 1) * sizeof *in);
    CLEANUP(array_free) int *sent = malloc((size_t)(model->n_groups + 1) * sizeof *sent);
    Operands operands = {out, in, 0, sent};
    if (!out || !in || !sent) {
        b->status = NO_MEMORY("for the optimizer's operands");
        return;
    }
    append(b, model, &operands);
}
