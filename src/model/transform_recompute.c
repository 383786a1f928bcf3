#include "model/transform_recompute.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that are recomputed together, from one kept tensor. */
typedef struct Segment {
    int kept;                 /* the residual stream that its first block began with */
    int forward, forward_end; /* its nodes */
    int backward, backward_end;
    bool done;
} Segment;

typedef struct Work {
    Builder *b;
    Node *old; /* the nodes of the plan as it was; operands stay where they are */
    int n_old;
    int64_t every, blocks;
    Segment *segments;
    int *
        segment_of; /* of each storage tensor: the segment whose forward pass makes it, or PLAN_NONE */
    int *copy;      /* of each tensor: what is read in its place from now on, or PLAN_NONE */
    bool *needed;  /* of each storage tensor: backward reads it */
    int *operands; /* of one node */
} Work;

int64_t transform_recompute_blocks(const Config *config)
{
    const int64_t every = config->recompute, layers = config->model.num_layers;
    if (every <= 0 || every >= layers) return 0;
    const int64_t most = (layers - 1) / every * every;
    const int64_t asked = config->recompute_blocks;
    return asked > 0 && asked < most ? asked : most;
}

/* ---- which nodes belong together ---- */

static int segment_of_node(const Work *w, const Node *node)
{
    return node->layer >= 0 && node->layer < w->blocks ? (int)(node->layer / w->every) : PLAN_NONE;
}

static void widen(int *begin, int *end, int node)
{
    if (*begin == *end) *begin = node;
    *end = node + 1;
}

static void find_segments(Work *w, const Model *model)
{
    const Plan *plan = w->b->plan;
    for (int i = 0; i < plan->n_tensors; i++) w->segment_of[i] = w->copy[i] = PLAN_NONE;
    for (int n = 0; n < w->n_old; n++) {
        const Node *node = &w->old[n];
        const int s = segment_of_node(w, node);
        if (s == PLAN_NONE) continue;
        Segment *segment = &w->segments[s];
        segment->kept = plan_storage(plan, model->stream[s * w->every]);
        if (node->phase == PHASE_BACKWARD) widen(&segment->backward, &segment->backward_end, n);
        if (node->phase != PHASE_FORWARD) continue;
        widen(&segment->forward, &segment->forward_end, n);
        for (int i = 0; i < node->n_out; i++) {
            const int id = plan_out_id(plan, node, i);
            if (id != PLAN_NONE) w->segment_of[plan_storage(plan, id)] = s;
        }
    }
}

/* Made by this segment's forward pass, and not kept. */
static bool is_recomputed(const Work *w, int s, int id)
{
    const int storage = id == PLAN_NONE ? PLAN_NONE : plan_storage(w->b->plan, id);
    return storage != PLAN_NONE && w->segment_of[storage] == s && storage != w->segments[s].kept;
}

/* ---- what has to be recomputed ---- */

static void need_inputs(Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        const int id = plan_in_id(w->b->plan, node, i);
        if (is_recomputed(w, s, id)) w->needed[plan_storage(w->b->plan, id)] = true;
    }
}

static bool makes_needed(const Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        const int id = plan_out_id(w->b->plan, node, i);
        if (is_recomputed(w, s, id) && w->needed[plan_storage(w->b->plan, id)]) return true;
    }
    return false;
}

/* From the last node to the first: a node is needed when something needs what it makes. */
static void find_needed(Work *w, int s)
{
    const Segment *segment = &w->segments[s];
    for (int n = segment->backward; n < segment->backward_end; n++) {
        if (segment_of_node(w, &w->old[n]) == s) need_inputs(w, s, &w->old[n]);
    }
    for (int n = segment->forward_end; n-- > segment->forward;) {
        if (makes_needed(w, s, &w->old[n])) need_inputs(w, s, &w->old[n]);
    }
}

/* ---- doing so ---- */

static int add_tensor(Work *w, const Tensor *tensor)
{
    int id = PLAN_NONE;
    if (w->b->status == ST_OK) w->b->status = plan_add_tensor(w->b->plan, tensor, &id);
    return id;
}

/* What is read in place of `id`: its copy, a window into its base's copy, or itself. */
static int replaced(Work *w, int id)
{
    if (id == PLAN_NONE || w->copy[id] != PLAN_NONE) return id == PLAN_NONE ? id : w->copy[id];
    Tensor window = w->b->plan->tensors[id]; /* a copy: tensors move while the plan grows */
    if (window.base == PLAN_NONE || w->copy[window.base] == PLAN_NONE) return id;
    window.base = w->copy[window.base];
    return w->copy[id] = add_tensor(w, &window);
}

static void copy_outputs(Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_out && w->b->status == ST_OK; i++) {
        const int id = plan_out_id(w->b->plan, node, i);
        const int storage = is_recomputed(w, s, id) ? plan_storage(w->b->plan, id) : PLAN_NONE;
        if (storage == PLAN_NONE || w->copy[storage] != PLAN_NONE) continue;
        Tensor again = w->b->plan->tensors[storage];
        again.keep = false;
        w->copy[storage] = add_tensor(w, &again);
    }
}

/* The node with every operand replaced, inputs alone for one that is not recomputed. */
static void emit(Work *w, const Node *node, bool again)
{
    const Plan *plan = w->b->plan;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        w->operands[i] = i < node->n_out && !again ? id : replaced(w, id);
    }
    if (w->b->status != ST_OK) return;
    w->b->status = plan_add_node(w->b->plan, node, w->operands, node->n_out,
                                 w->operands + node->n_out, node->n_in);
}

/* The norm that a segment begins with adds up the stream, and the sum is what is kept. */
static bool starts_from_sum(const Work *w, int s, const Node *node)
{
    return node->op == OP_rmsnorm && plan_out_id(w->b->plan, node, 2) == w->segments[s].kept;
}

static void emit_from_sum(Work *w, int s, const Node *node)
{
    const int out[] = {replaced(w, plan_out_id(w->b->plan, node, 0)),
                       replaced(w, plan_out_id(w->b->plan, node, 1)), PLAN_NONE};
    const int in[] = {w->segments[s].kept, plan_in_id(w->b->plan, node, 1), PLAN_NONE};
    if (w->b->status == ST_OK) w->b->status = plan_add_node(w->b->plan, node, out, 3, in, 3);
}

static void compute_again(Work *w, int s)
{
    Segment *segment = &w->segments[s];
    find_needed(w, s);
    for (int n = segment->forward; n < segment->forward_end && w->b->status == ST_OK; n++) {
        if (!makes_needed(w, s, &w->old[n])) continue;
        Node node = w->old[n];
        node.phase = PHASE_BACKWARD;
        node.recomputed = true;
        copy_outputs(w, s, &node);
        if (starts_from_sum(w, s, &node)) {
            emit_from_sum(w, s, &node);
        } else {
            emit(w, &node, true);
        }
    }
    segment->done = true;
}

static void rebuild(Work *w)
{
    for (int n = 0; n < w->n_old && w->b->status == ST_OK; n++) {
        const Node *node = &w->old[n];
        const int s = node->phase == PHASE_BACKWARD ? segment_of_node(w, node) : PLAN_NONE;
        if (s != PLAN_NONE && !w->segments[s].done) compute_again(w, s);
        emit(w, node, false);
    }
}

/* ---- all of it ---- */

static int most_operands(const Work *w)
{
    int most = 1;
    for (int n = 0; n < w->n_old; n++) {
        const int operands = w->old[n].n_out + w->old[n].n_in;
        if (operands > most) most = operands;
    }
    return most;
}

/* The tables of tensors cover those of the plan as it was: copies are never replaced themselves. */
static bool allocate(Work *w)
{
    const size_t tensors = (size_t)w->b->plan->n_tensors;
    w->segments = calloc((size_t)(w->blocks / w->every) + 1, sizeof *w->segments);
    w->segment_of = calloc(tensors, sizeof *w->segment_of);
    w->copy = calloc(tensors, sizeof *w->copy);
    w->needed = calloc(tensors, sizeof *w->needed);
    w->operands = calloc((size_t)most_operands(w), sizeof *w->operands);
    return w->segments && w->segment_of && w->copy && w->needed && w->operands;
}

void transform_recompute(Builder *b, const Model *model)
{
    Work w = {.b = b,
              .old = b->plan->nodes,
              .n_old = b->plan->n_nodes,
              .every = model->config.recompute,
              .blocks = transform_recompute_blocks(&model->config)};
    if (w.blocks == 0) return;
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    if (allocate(&w)) {
        find_segments(&w, model);
        rebuild(&w);
    } else {
        b->status = NO_MEMORY("to plan recomputation");
    }
    free(w.old);
    free(w.segments);
    free(w.segment_of);
    free(w.copy);
    free(w.needed);
    free(w.operands);
}
