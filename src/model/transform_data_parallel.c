/* A bucket is one tensor, and the gradients in it are windows into it, so that nothing is copied on the way.
 * Gradients join buckets in the order in which they become whole; those of one dtype travel together. */
#include "base/array.h"
#include "base/i64.h"
#include "model/gradient_order.h"
#include "model/stages.h"
#include "plan/mem_plan.h"

#include <stdio.h>
#include <stdlib.h>

enum { USUAL_BUCKET = 25000000 }; /* bytes, as in PyTorch's DDP */

typedef struct Bucket {
    DType dtype;
    int64_t elements;
    int ready;       /* the node after which it is whole */
    int tensor;      /* PLAN_NONE until it is made */
    int groups, one; /* how many gradients, and the group of one of them */
    bool closed, sent;
} Bucket;

typedef struct Work {
    Builder *b;
    Model *model;
    const Node *old; /* the nodes of the plan as it was */
    int n_old;
    int *last_writer; /* of each group's gradient */
    int *order;       /* groups by last_writer */
    int *bucket_of;   /* of each group */
    Bucket *buckets;  /* at most as many as groups */
    int n_buckets;
} Work;

/* ---- which gradients travel together ---- */

static double bucket_bytes(const Config *config)
{
    if (config->parallel == PARALLEL_DDP_FLAT) return 0x1p62;
    return config->bucket > 0 ? (double)config->bucket : USUAL_BUCKET;
}

static void sort_groups(Work *w)
{
    for (int g = 0; g < w->model->n_groups; g++) {
        int at = g;
        for (; at > 0 && w->last_writer[w->order[at - 1]] > w->last_writer[g]; at--)
            w->order[at] = w->order[at - 1];
        w->order[at] = g;
    }
}

/* The open one of this dtype, or a new one. */
static int open_bucket(Work *w, DType dtype)
{
    for (int i = w->n_buckets - 1; i >= 0; i--) {
        if (w->buckets[i].dtype == dtype && !w->buckets[i].closed) return i;
    }
    w->buckets[w->n_buckets] = (Bucket){.dtype = dtype, .tensor = PLAN_NONE};
    return w->n_buckets++;
}

/* Every gradient begins where a tensor of its own would. */
static int64_t room_of(const Tensor *grad)
{
    const int64_t step = MEM_PLAN_ALIGN / (int64_t)plan_dtype_size(grad->dtype);
    return i64_round_up(plan_elements(grad), step);
}

static void fill_buckets(Work *w)
{
    const double most = bucket_bytes(&w->model->config);
    for (int i = 0; i < w->model->n_groups; i++) {
        const int g = w->order[i];
        const Tensor *grad = builder_at(w->b, w->model->groups[g].grad);
        const int k = open_bucket(w, grad->dtype);
        Bucket *bucket = &w->buckets[k];
        w->bucket_of[g] = k;
        bucket->elements += room_of(grad);
        bucket->ready = w->last_writer[g];
        bucket->groups++;
        bucket->one = g;
        bucket->closed = (double)bucket->elements * (double)plan_dtype_size(grad->dtype) >= most;
    }
}

/* ---- gradients become windows ---- */

static void move_into(Plan *plan, int grad, int bucket, int64_t offset)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        Tensor *t = &plan->tensors[i];
        if (i != grad && t->base != grad) continue;
        t->base = bucket;
        t->offset += offset;
    }
}

static void make_bucket(const Work *w, int k)
{
    Bucket *bucket = &w->buckets[k];
    char name[PLAN_NAME];
    int64_t at = 0;
    bucket->tensor = w->model->groups[bucket->one].grad;
    if (bucket->groups == 1) return;
    snprintf(name, sizeof name, "bucket %d of gradients", k);
    bucket->tensor = builder_tensor(w->b, name, builder_at(w->b, bucket->tensor)->kind,
                                    bucket->dtype, DIMS(bucket->elements));
    for (int i = 0; i < w->model->n_groups && w->b->status == ST_OK; i++) {
        const int g = w->order[i], grad = w->model->groups[g].grad;
        if (w->bucket_of[g] != k) continue;
        const int64_t room = room_of(builder_at(w->b, grad));
        move_into(w->b->plan, grad, bucket->tensor, at);
        at += room;
    }
}

/* ---- where they travel ---- */

static void send(Builder *b, const Model *model, Phase phase, int tensor)
{
    b->phase = phase;
    builder_scope(b, PLAN_NONE, "ranks/all_reduce");
    builder_node(b, OP_all_reduce, IDS(tensor), IDS(tensor))->scale =
        1 / (double)model->config.ranks;
    if (b->status != ST_OK) return;
    Node *node = &b->plan->nodes[b->plan->n_nodes - 1];
    node->queue = model->config.parallel == PARALLEL_DDP ? QUEUE_COMMUNICATION : QUEUE_COMPUTE;
}

/* Those that are whole by now; at the end of the pass all. */
static void send_ready(const Work *w, int node)
{
    const bool early = w->model->config.parallel == PARALLEL_DDP;
    const bool last = node + 1 == w->n_old;
    if (!last && !(early && gradient_order_ends_part(w->old, w->n_old, node))) return;
    for (int k = 0; k < w->n_buckets; k++) {
        Bucket *bucket = &w->buckets[k];
        if (bucket->sent || (!last && bucket->ready > node)) continue;
        send(w->b, w->model, w->old[node].phase, bucket->tensor);
        bucket->sent = true;
    }
}

static void send_buckets(Work *w)
{
    Builder *b = w->b;
    sort_groups(w);
    fill_buckets(w);
    for (int k = 0; k < w->n_buckets && b->status == ST_OK; k++) make_bucket(w, k);
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    for (int n = 0; n < w->n_old && b->status == ST_OK; n++) {
        b->status = plan_append_node(b->plan, &w->old[n]);
        if (b->status == ST_OK) send_ready(w, n);
    }
}

static void in_buckets(Builder *b, Model *model)
{
    const size_t n = (size_t)model->n_groups + 1;
    CLEANUP(array_free) Node *old = b->plan->nodes;
    const int n_old = b->plan->n_nodes;
    CLEANUP(array_free) int *last = gradient_order_last_writers(model, b->plan, old, n_old);
    CLEANUP(array_free) int *order = malloc(n * sizeof *order);
    CLEANUP(array_free) int *bucket_of = malloc(n * sizeof *bucket_of);
    CLEANUP(array_free) Bucket *buckets = malloc(n * sizeof *buckets);
    Work w = {b, model, old, n_old, last, order, bucket_of, buckets, 0};
    if (last && order && bucket_of && buckets) {
        send_buckets(&w);
    } else {
        b->plan->nodes = NULL;
        b->plan->n_nodes = 0;
        b->status = NO_MEMORY("to plan what ranks send each other");
    }
}

static void one_by_one(Builder *b, const Model *model)
{
    for (int i = 0; i < model->n_params && b->status == ST_OK; i++)
        send(b, model, PHASE_BACKWARD, model->params[i].grad);
}

void transform_data_parallel(Builder *b, Model *model)
{
    if (model->config.ranks <= 1) return;
    b->plan->ranks = model->config.ranks;
    b->plan->rank = model->config.rank;
    if (config_parallel_shards(model->config.parallel))
        transform_shard(b, model);
    else if (!config_mode_has_backward(model->mode))
        return;
    else if (model->config.parallel == PARALLEL_DDP_NAIVE)
        one_by_one(b, model);
    else
        in_buckets(b, model);
}
