/* zero1: gradients are reduced and scattered as soon as they are whole, so that each rank has the mean of its
 * shard, at its place. It updates that shard of the parameters, whose moments and master copies are all it
 * keeps, and gathers those of the others.
 *
 * fsdp: a rank keeps no more than its shard of anything. The parameters of a part of the step (the embedding,
 * a block, the head with its loss) are gathered before it, while the part before it is computed, and are gone
 * after it: the backward pass gathers them once more. Gradients have memory until they are scattered.
 *
 * The shards are those of groups of parameters (plan/shard.h). */
#include "base/array.h"
#include "model/gradient_order.h"
#include "model/stages.h"

#include <stdio.h>
#include <stdlib.h>

/* What becomes of a group while the nodes are written again. */
typedef struct GroupState {
    int last_writer; /* of its gradient; PLAN_NONE: there is none, or it has been scattered */
    int gathered;    /* the tensor with all of its parameters; PLAN_NONE: none as yet */
    int part;        /* the last part that is known to read it */
} GroupState;

typedef struct Work {
    Builder *b;
    Model *model;
    const Node *old; /* the nodes of the plan as it was */
    int n_old, n_old_tensors;
    GroupState *groups;
    int *
        group_of; /* of each old tensor in the memory that matmuls and norms read; PLAN_NONE: another */
    int *window; /* the newest one that stands for it in gathered memory; PLAN_NONE: none */
} Work;

static bool is_fsdp(const Work *w)
{
    return w->model->config.parallel == PARALLEL_FSDP;
}

/* ---- shards ---- */

/* An empty one has an element all the same, which nobody reads: no tensor is empty. */
static Shard room_of(const Plan *plan, int64_t count)
{
    const Shard own = plan_shard(plan, count);
    return (Shard){i64_min(own.first, count - 1), i64_max(own.count, 1)};
}

static int shard_view(Builder *b, const char *of, int tensor, int64_t count)
{
    if (tensor == PLAN_NONE) return PLAN_NONE;
    char name[PLAN_NAME];
    const Shard own = room_of(b->plan, count);
    snprintf(name, sizeof name, "shard of %.46s", of);
    return builder_view(b, name, tensor, own.first, DIMS(own.count), own.count);
}

/* Nothing but the shard of it has memory. */
static void keep_shard(Builder *b, int tensor, int64_t count)
{
    if (tensor == PLAN_NONE || b->status != ST_OK) return;
    Tensor *t = &b->plan->tensors[tensor];
    t->dim[0] = t->ld = room_of(b->plan, count).count;
}

static void shard_group(const Work *w, ParamGroup *g)
{
    Builder *b = w->b;
    const bool copied = g->copy != PLAN_NONE;
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "%s", builder_at(b, g->flat)->name);
    keep_shard(b, g->m, g->used);
    keep_shard(b, g->v, g->used);
    g->flat_is_shard = is_fsdp(w) || copied;
    g->copy_is_shard = is_fsdp(w) && copied;
    if (g->flat_is_shard) keep_shard(b, g->flat, g->used);
    if (g->copy_is_shard) keep_shard(b, g->copy, g->used);
    g->own.flat = g->flat_is_shard ? g->flat : shard_view(b, name, g->flat, g->used);
    g->own.copy = g->copy_is_shard ? g->copy : shard_view(b, name, g->copy, g->used);
    if (b->status == ST_OK && builder_dtype(b, g->flat) == DT_LOW16)
        b->plan->tensors[g->flat].upper = g->own.copy;
}

/* ---- gradients ---- */

static void scatter(const Work *w, ParamGroup *g, const Node *after)
{
    Builder *b = w->b;
    const Tensor grad = *builder_at(b, g->grad);
    g->own.grad = PLAN_NONE;
    if (is_fsdp(w)) {
        char name[PLAN_NAME];
        snprintf(name, sizeof name, "shard of %.46s", grad.name);
        g->own.grad =
            builder_tensor(b, name, TK_GRAD, grad.dtype, DIMS(room_of(b->plan, g->used).count));
        if (b->status == ST_OK) b->plan->tensors[g->own.grad].keep = grad.keep;
        if (b->status == ST_OK) b->plan->tensors[g->grad].keep = false;
    } else {
        g->own.grad = shard_view(b, grad.name, g->grad, g->used);
    }
    b->phase = after->phase;
    builder_scope(b, PLAN_NONE, "ranks/reduce_scatter");
    builder_node(b, OP_reduce_scatter, IDS(g->own.grad), IDS(g->grad))->scale =
        1 / (double)w->model->config.ranks;
    if (b->status == ST_OK) b->plan->nodes[b->plan->n_nodes - 1].queue = QUEUE_COMMUNICATION;
}

/* Those that are whole after node `n`. */
static void scatter_ready(const Work *w, int n)
{
    if (!gradient_order_ends_part(w->old, w->n_old, n)) return;
    for (int g = 0; g < w->model->n_groups; g++) {
        GroupState *state = &w->groups[g];
        if (state->last_writer == PLAN_NONE || state->last_writer > n) continue;
        scatter(w, &w->model->groups[g], &w->old[n]);
        state->last_writer = PLAN_NONE;
    }
}

/* ---- parameters ---- */

static void gather(Builder *b, Phase phase, int all, int shard)
{
    b->phase = phase;
    builder_scope(b, PLAN_NONE, "ranks/all_gather");
    builder_node(b, OP_all_gather, IDS(all), IDS(shard));
    if (b->status == ST_OK) b->plan->nodes[b->plan->n_nodes - 1].queue = QUEUE_COMMUNICATION;
}

static void gather_group(const Work *w, int group, Phase phase)
{
    ParamGroup *g = &w->model->groups[group];
    const int own = g->copy == PLAN_NONE ? g->flat : g->copy;
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "all of %.48s", builder_at(w->b, g->flat)->name);
    w->groups[group].gathered =
        builder_tensor(w->b, name, TK_GATHERED, builder_dtype(w->b, own), DIMS(g->used));
    gather(w->b, phase, w->groups[group].gathered, own);
}

/* The part that begins at node `n` ends before this one. */
static int part_end(const Work *w, int n)
{
    const int layer = n < w->n_old ? w->old[n].layer : PLAN_NONE;
    while (n < w->n_old && w->old[n].layer == layer) n++;
    return n;
}

/* Gathers the parameters that nodes [n, end), the part of that number, read, unless the part before does. */
static void gather_part(const Work *w, int n, int end, int part, Phase phase)
{
    for (; n < end && w->b->status == ST_OK; n++) {
        const Node *node = &w->old[n];
        for (int i = 0; i < node->n_out + node->n_in; i++) {
            const int id = w->b->plan->operands[node->first + i];
            const int g = id == PLAN_NONE ? PLAN_NONE : w->group_of[id];
            if (g == PLAN_NONE || w->groups[g].part == part) continue;
            const bool there = w->groups[g].part == part - 1;
            w->groups[g].part = part;
            if (!there) gather_group(w, g, phase);
        }
    }
}

/* The same window into the memory that its group was gathered in last. */
static int gathered_window(const Work *w, int id)
{
    const int all = w->groups[w->group_of[id]].gathered;
    const Tensor t = *builder_at(w->b, id);
    if (t.base == PLAN_NONE) return all;
    if (w->window[id] == PLAN_NONE || builder_at(w->b, w->window[id])->base != all)
        w->window[id] = builder_view(w->b, t.name, all, t.offset, t.n_dims, t.dim, t.ld);
    return w->window[id];
}

static void append(const Work *w, int n)
{
    Builder *b = w->b;
    Node node = w->old[n];
    if (is_fsdp(w)) b->status = plan_copy_operands(b->plan, &node);
    for (int i = 0; is_fsdp(w) && b->status == ST_OK && i < node.n_out + node.n_in; i++) {
        const int id = b->plan->operands[node.first + i];
        if (id == PLAN_NONE || w->group_of[id] == PLAN_NONE) continue;
        const int window = gathered_window(w, id);
        b->plan->operands[node.first + i] = window;
    }
    if (b->status == ST_OK) b->status = plan_append_node(b->plan, &node);
}

/* ---- setup ---- */

/* 16-bit copies are made of a shard of master copies, and gathered. */
static void append_setup(const Work *w, int n)
{
    Builder *b = w->b;
    const Node *node = &w->old[n];
    const int copy = plan_out_id(b->plan, node, 0);
    for (int i = 0; i < w->model->n_groups; i++) {
        const ParamGroup *g = &w->model->groups[i];
        if (g->copy != copy) continue;
        b->phase = PHASE_SETUP;
        builder_scope(b, PLAN_NONE, node->scope);
        if (plan_shard(b->plan, g->used).count > 0)
            builder_node(b, OP_cast, IDS(g->own.copy), IDS(g->flat));
        if (!g->copy_is_shard) gather(b, PHASE_SETUP, g->copy, g->own.copy);
    }
}

/* ---- the nodes again ---- */

static void rebuild(const Work *w)
{
    Builder *b = w->b;
    int next = 0, part = 0;
    for (int n = 0; n < w->n_old && b->status == ST_OK; n++) {
        if (w->old[n].phase == PHASE_SETUP) {
            append_setup(w, n);
            next = n + 1;
            continue;
        }
        if (is_fsdp(w) && n == next) {
            const int end = part_end(w, n);
            if (part == 0) gather_part(w, n, end, part, w->old[n].phase);
            gather_part(w, end, part_end(w, end), part + 1, w->old[n].phase);
            next = end;
            part++;
        }
        append(w, n);
        scatter_ready(w, n);
    }
}

/* What nodes of the forward and backward pass read of parameters. */
static void find_windows(const Work *w)
{
    const Plan *plan = w->b->plan;
    for (int i = 0; i < w->n_old_tensors; i++) w->group_of[i] = w->window[i] = PLAN_NONE;
    for (int g = 0; g < w->model->n_groups; g++) {
        const ParamGroup *group = &w->model->groups[g];
        w->group_of[group->copy == PLAN_NONE ? group->flat : group->copy] = g;
    }
    for (int i = 0; i < w->n_old_tensors; i++) {
        const int base = plan->tensors[i].base;
        if (base != PLAN_NONE) w->group_of[i] = w->group_of[base];
    }
}

static bool take_memory(Work *w, const int *last)
{
    const size_t n = (size_t)w->n_old_tensors + 1;
    w->groups = malloc(((size_t)w->model->n_groups + 1) * sizeof *w->groups);
    w->group_of = malloc(n * sizeof *w->group_of);
    w->window = malloc(n * sizeof *w->window);
    if (!last || !w->groups || !w->group_of || !w->window) return false;
    for (int g = 0; g < w->model->n_groups; g++)
        w->groups[g] = (GroupState){config_mode_has_backward(w->model->mode) ? last[g] : PLAN_NONE,
                                    PLAN_NONE, -2};
    find_windows(w);
    return true;
}

static void work_free(Work *w)
{
    free(w->groups);
    free(w->group_of);
    free(w->window);
}

void transform_shard(Builder *b, Model *model)
{
    CLEANUP(array_free) Node *old = b->plan->nodes;
    const int n_old = b->plan->n_nodes;
    CLEANUP(array_free) int *last = gradient_order_last_writers(model, b->plan, old, n_old);
    CLEANUP(work_free)
    Work w = {.b = b, .model = model, .old = old, .n_old = n_old};
    w.n_old_tensors = b->plan->n_tensors;
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    if (!take_memory(&w, last)) {
        b->status = NO_MEMORY("to plan shards of parameters");
        return;
    }
    for (int g = 0; g < model->n_groups; g++) shard_group(&w, &model->groups[g]);
    rebuild(&w);
}

void transform_shard_gather(Builder *b, const Model *model)
{
    if (model->config.ranks <= 1 || model->config.parallel != PARALLEL_ZERO1) return;
    for (int i = 0; i < model->n_groups; i++) {
        const ParamGroup *g = &model->groups[i];
        const bool copied = g->copy != PLAN_NONE;
        gather(b, PHASE_OPTIMIZER, copied ? g->copy : g->flat, copied ? g->own.copy : g->own.flat);
    }
}
