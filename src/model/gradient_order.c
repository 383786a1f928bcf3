#include "model/gradient_order.h"

#include <stdlib.h>
#include <string.h>

static int group_of_storage(const Model *model, int storage)
{
    for (int g = 0; g < model->n_groups; g++) {
        if (model->groups[g].grad == storage) return g;
    }
    return PLAN_NONE;
}

int *gradient_order_last_writers(const Model *model, const Plan *plan, const Node *nodes, int n)
{
    int *last = malloc(((size_t)model->n_groups + 1) * sizeof *last);
    for (int g = 0; last && g < model->n_groups; g++) last[g] = PLAN_NONE;
    for (int i = 0; last && i < n; i++) {
        for (int out = 0; out < nodes[i].n_out; out++) {
            const int id = plan_out_id(plan, &nodes[i], out);
            if (id == PLAN_NONE) continue;
            const TensorKind kind = plan->tensors[id].kind;
            if (kind != TK_GRAD && kind != TK_GRAD_SUM) continue;
            const int group = group_of_storage(model, plan_storage(plan, id));
            if (group != PLAN_NONE) last[group] = i;
        }
    }
    return last;
}

/* Of "layer.3/attn/qkv" the length of "layer.3/attn", of "lm_head" all. */
static size_t part_length(const char *scope)
{
    const size_t layer = strncmp(scope, "layer.", 6) == 0 ? strcspn(scope, "/") + 1 : 0;
    return layer + strcspn(scope + layer, "/");
}

bool gradient_order_ends_part(const Node *nodes, int n, int i)
{
    if (i + 1 == n) return true;
    const Node *a = &nodes[i], *b = &nodes[i + 1];
    const size_t length = part_length(a->scope);
    return a->phase != b->phase || length != part_length(b->scope) ||
           strncmp(a->scope, b->scope, length) != 0;
}
