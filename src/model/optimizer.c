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
} Operands;

static bool is_sharded(const Model *m)
{
    return m->config.ranks > 1 && config_parallel_shards(m->config.parallel);
}

static int own_or_all(int own, int all)
{
    return own == PLAN_NONE ? all : own;
}

/* out: p, m, v, copy of each group; in: their gradients, then the step state. Groups of whose parameters this
 * rank has none are left out. */
static void find_operands(Operands *o, const Plan *plan, const Model *m)
{
    for (int i = 0; i < m->n_groups; i++) {
        const ParamGroup *g = &m->groups[i];
        if (is_sharded(m) && plan_shard(plan, g->used).count == 0) continue;
        o->out[4 * o->n] = own_or_all(g->own.flat, g->flat);
        o->out[4 * o->n + 1] = g->m;
        o->out[4 * o->n + 2] = g->v;
        o->out[4 * o->n + 3] = own_or_all(g->own.copy, g->copy);
        o->in[o->n++] = own_or_all(g->own.grad, g->grad);
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

static void append(Builder *b, const Model *m, const Operands *o)
{
    b->phase = PHASE_OPTIMIZER;
    builder_scope(b, PLAN_NONE, "optimizer/norm");
    if (optimizer_needs_norm(&m->config)) {
        builder_node(b, OP_grad_norm, IDS(m->state), o->in, o->n + 1);
        if (is_sharded(m)) sum_norm(b, m);
    }
    transform_fp8_end(b, m, optimizer_needs_norm(&m->config));
    builder_scope(b, PLAN_NONE, "optimizer/state");
    builder_node(b, OP_adam_state, IDS(m->state), IDS(m->state));
    builder_scope(b, PLAN_NONE, "optimizer/adamw");
    builder_node(b, OP_adamw, o->out, 4 * o->n, o->in, o->n + 1);
    if (b->status != ST_OK) return;
    const Node adamw = b->plan->nodes[--b->plan->n_nodes];
    transform_decompose_node(b, m, &adamw);
}

void optimizer_build(Builder *b, const Model *model)
{
    CLEANUP(array_free) int *out = malloc((size_t)model->n_groups * 4 * sizeof *out);
    CLEANUP(array_free) int *in = malloc((size_t)(model->n_groups + 1) * sizeof *in);
    Operands operands = {out, in, 0};
    if (!out || !in) {
        b->status = NO_MEMORY("for the optimizer's operands");
        return;
    }
    find_operands(&operands, b->plan, model);
    append(b, model, &operands);
}
