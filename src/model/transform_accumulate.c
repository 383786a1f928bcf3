/* The sums are of a persistent kind. */
#include "base/array.h"
#include "model/gradient_moves.h"
#include "model/stages.h"

#include <stdio.h>

/* sum = x, or sum += scale x from the second micro-batch on. */
static void add_sum(Builder *b, const Model *model, const char *scope, int sum, int x, double scale)
{
    builder_scope(b, b->layer, scope);
    builder_node(b, OP_accumulate, IDS(sum), IDS(x, sum, model->state))->scale = scale;
}

static int sum_gradient(Builder *b, const Model *model, int grad)
{
    const Tensor t = *builder_at(b, grad);
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "sum of %.48s", t.name);
    const int sum = builder_tensor(b, name, TK_GRAD_SUM, model->full_dtype, t.n_dims, t.dim);
    add_sum(b, model, "accumulate", sum, grad, 1);
    return sum;
}

static bool makes(const Plan *plan, const Node *node, int tensor)
{
    return node->n_out > 0 && plan_out_id(plan, node, 0) == tensor;
}

/* It stays from one micro-batch to the next, beside the step state. */
static void sum_loss(Builder *b, Model *m, const Node *node)
{
    const int part = m->loss;
    b->plan->tensors[part].keep = false;
    m->loss = builder_tensor(b, "loss", TK_STATE, m->full_dtype, DIMS(1));
    b->phase = node->phase;
    b->layer = node->layer;
    add_sum(b, m, "loss", m->loss, part, 1 / (double)m->config.accumulate);
}

void transform_accumulate(Builder *b, Model *model)
{
    if (model->config.accumulate <= 1) return;
    const int loss = model->loss;
    CLEANUP(gradient_moves_end) GradientMoves moves = {.move = sum_gradient};
    b->plan->micro_batches = model->config.accumulate;
    gradient_moves_begin(&moves, b, model);
    for (int n = 0; n < moves.n_old && b->status == ST_OK; n++) {
        b->status = plan_append_node(b->plan, &moves.old[n]);
        if (b->status == ST_OK && makes(b->plan, &moves.old[n], loss))
            sum_loss(b, model, &moves.old[n]);
        if (b->status == ST_OK) gradient_moves_after(&moves, n);
    }
}
