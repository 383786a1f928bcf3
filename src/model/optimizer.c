#include "base/array.h"
#include "model/stages.h"

#include <stdlib.h>

bool optimizer_needs_norm(const Config *config)
{
    return config->clip > 0 || config_scales_loss(config);
}

/* out: p, m, v, copy of each group; in: their gradients, then the step state */
static void operands(const Model *m, int *out, int *in)
{
    for (int i = 0; i < m->n_groups; i++) {
        const ParamGroup *g = &m->groups[i];
        out[4 * i] = g->flat;
        out[4 * i + 1] = g->m;
        out[4 * i + 2] = g->v;
        out[4 * i + 3] = g->copy;
        in[i] = g->grad;
    }
    in[m->n_groups] = m->state;
}

static void append(Builder *b, const Model *m, const int *out, const int *in)
{
    const int n = m->n_groups;
    b->phase = PHASE_OPTIMIZER;
    builder_scope(b, PLAN_NONE, "optimizer/norm");
    if (optimizer_needs_norm(&m->config)) builder_node(b, OP_grad_norm, IDS(m->state), in, n + 1);
    builder_scope(b, PLAN_NONE, "optimizer/state");
    builder_node(b, OP_adam_state, IDS(m->state), IDS(m->state));
    builder_scope(b, PLAN_NONE, "optimizer/adamw");
    builder_node(b, OP_adamw, out, 4 * n, in, n + 1);
    if (b->status != ST_OK) return;
    const Node adamw = b->plan->nodes[--b->plan->n_nodes];
    transform_decompose_node(b, m, &adamw);
}

void optimizer_build(Builder *b, const Model *model)
{
    CLEANUP(array_free) int *out = malloc((size_t)model->n_groups * 4 * sizeof *out);
    CLEANUP(array_free) int *in = malloc((size_t)(model->n_groups + 1) * sizeof *in);
    if (!out || !in) {
        b->status = NO_MEMORY("for the optimizer's operands");
    } else {
        operands(model, out, in);
        append(b, model, out, in);
    }
}
