#include "model/gradient_moves.h"

#include "model/gradient_order.h"

#include <stdlib.h>

void gradient_moves_begin(GradientMoves *moves, Builder *b, Model *model)
{
    moves->b = b;
    moves->model = model;
    moves->old = b->plan->nodes;
    moves->n_old = b->plan->n_nodes;
    moves->last_writer = gradient_order_last_writers(model, b->plan, moves->old, moves->n_old);
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    if (!moves->last_writer) b->status = NO_MEMORY("to plan where gradients are");
}

void gradient_moves_end(GradientMoves *moves)
{
    free((void *)moves->old);
    free(moves->last_writer);
    *moves = (GradientMoves){0};
}

/* The parameters of the group have their gradients there from now on. */
static void move_params(Builder *b, Model *model, int from, int to)
{
    for (int i = 0; i < model->n_params; i++) {
        Param *p = &model->params[i];
        const Tensor t = *builder_at(b, p->grad);
        if (p->grad == PLAN_NONE || t.base != from) continue;
        p->grad = builder_view(b, t.name, to, t.offset, t.n_dims, t.dim, t.ld);
    }
}

static void move(const GradientMoves *moves, int group)
{
    Builder *b = moves->b;
    ParamGroup *g = &moves->model->groups[group];
    const Node *after = &moves->old[moves->last_writer[group]];
    const int from = g->grad;
    b->phase = after->phase;
    b->layer = after->layer;
    const int to = moves->move(b, moves->model, from);
    if (to == PLAN_NONE) return;
    b->plan->tensors[to].keep = b->plan->tensors[from].keep;
    b->plan->tensors[from].keep = false;
    g->grad = to;
    move_params(b, moves->model, from, to);
}

void gradient_moves_after(const GradientMoves *moves, int n)
{
    if (!config_mode_has_backward(moves->model->mode) ||
        !gradient_order_ends_part(moves->old, moves->n_old, n))
        return;
    for (int g = 0; g < moves->model->n_groups && moves->b->status == ST_OK; g++) {
        if (moves->last_writer[g] == PLAN_NONE || moves->last_writer[g] > n) continue;
        move(moves, g);
        moves->last_writer[g] = PLAN_NONE;
    }
}
