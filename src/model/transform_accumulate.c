/* The sums are of a persistent kind. A gradient is added to its sum when it is whole and the part of the
 * block at hand (its attention, say) is done, after which its own memory is free: only those of one
 * block live at once. */
#include "base/array.h"
#include "model/gradient_order.h"
#include "model/stages.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Work {
    Builder *b;
    Model *model;
    const Node *old; /* the nodes of the plan as it was */
    int n_old;
    int *last_writer; /* of each group's gradient; PLAN_NONE: none, or it is summed */
} Work;

/* sum = x, or sum += scale x from the second micro-batch on; right after `node`. */
static void add_sum(const Work *w, const Node *node, const char *scope, int sum, int x,
                    double scale)
{
    Builder *b = w->b;
    b->phase = node->phase;
    builder_scope(b, node->layer, scope);
    builder_node(b, OP_accumulate, IDS(sum), IDS(x, sum, w->model->state))->scale = scale;
}

/* ---- gradients ---- */

static int sum_like(Builder *b, const Model *model, int grad)
{
    const Tensor t = *builder_at(b, grad);
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "sum of %.48s", t.name);
    return builder_tensor(b, name, TK_GRAD_SUM, model->full_dtype, t.n_dims, t.dim);
}

/* The parameters of the group have their gradients in its sum from now on. */
static void move_params(Builder *b, Model *model, int from, int to)
{
    for (int i = 0; i < model->n_params; i++) {
        Param *p = &model->params[i];
        const Tensor t = *builder_at(b, p->grad);
        if (p->grad == PLAN_NONE || t.base != from) continue;
        p->grad = builder_view(b, t.name, to, t.offset, t.n_dims, t.dim, t.ld);
    }
}

/* Those that are whole after `node`. */
static void sum_gradients(const Work *w, int node)
{
    for (int g = 0; g < w->model->n_groups && w->b->status == ST_OK; g++) {
        ParamGroup *group = &w->model->groups[g];
        if (w->last_writer[g] == PLAN_NONE || w->last_writer[g] > node) continue;
        const int grad = group->grad;
        w->b->plan->tensors[grad].keep = false;
        group->grad = sum_like(w->b, w->model, grad);
        add_sum(w, &w->old[w->last_writer[g]], "accumulate", group->grad, grad, 1);
        move_params(w->b, w->model, grad, group->grad);
        w->last_writer[g] = PLAN_NONE;
    }
}

/* ---- the loss ---- */

static bool makes(const Plan *plan, const Node *node, int tensor)
{
    return node->n_out > 0 && plan_out_id(plan, node, 0) == tensor;
}

/* It stays from one micro-batch to the next, beside the step state. */
static void sum_loss(const Work *w, const Node *node)
{
    Model *m = w->model;
    const int part = m->loss;
    w->b->plan->tensors[part].keep = false;
    m->loss = builder_tensor(w->b, "loss", TK_STATE, m->full_dtype, DIMS(1));
    add_sum(w, node, "loss", m->loss, part, 1 / (double)m->config.accumulate);
}

/* ---- all of it ---- */

static void rebuild(Work *w)
{
    Builder *b = w->b;
    const int loss = w->model->loss;
    for (int n = 0; n < w->n_old && b->status == ST_OK; n++) {
        b->status = plan_append_node(b->plan, &w->old[n]);
        if (b->status == ST_OK && makes(b->plan, &w->old[n], loss)) sum_loss(w, &w->old[n]);
        if (config_mode_has_backward(w->model->mode) &&
            gradient_order_ends_part(w->old, w->n_old, n))
            sum_gradients(w, n);
    }
}

void transform_accumulate(Builder *b, Model *model)
{
    if (model->config.accumulate <= 1) return;
    CLEANUP(array_free) Node *old = b->plan->nodes;
    CLEANUP(array_free)
    int *last_writer = gradient_order_last_writers(model, b->plan, old, b->plan->n_nodes);
    Work w = {b, model, old, b->plan->n_nodes, last_writer};
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    b->plan->micro_batches = model->config.accumulate;
    if (!last_writer) {
        b->status = NO_MEMORY("to plan gradient accumulation");
        return;
    }
    rebuild(&w);
}
