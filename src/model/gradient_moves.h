/* Gradients get another tensor each as soon as they are whole and the part of the block at hand (its
 * attention, say) is done, and others read that: a sum over micro-batches, or the precision in which ranks
 * send them. Their own memory is free then: only those of one block live at once. */
#pragma once

#include "model/model.h"

typedef struct GradientMoves {
    Builder *b;
    Model *model;
    const Node *old; /* the nodes of the plan as it was, */
    int n_old;
    int *last_writer; /* of each group's gradient there; PLAN_NONE: there is none, or it is moved */
    /* Makes the tensor and appends the node that fills it. PLAN_NONE: the gradient stays where it is. */
    int (*move)(Builder *b, const Model *model, int grad);
} GradientMoves;

/* Takes the nodes out of the plan, for the caller to append them again. */
void gradient_moves_begin(GradientMoves *moves, Builder *b, Model *model);
void gradient_moves_end(GradientMoves *moves);
/* After old node n has been appended: moves those that are whole now. */
void gradient_moves_after(const GradientMoves *moves, int n);
