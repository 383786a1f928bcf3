#include "model/transform_recompute.h"

#include "base/array.h"

#include <stdlib.h>

/* Blocks that are recomputed together, from one kept tensor. */
typedef struct Segment {
    int kept;                 /* the residual stream that its first block began with */
    int forward, forward_end; /* its nodes */
    int backward, backward_end;
    bool done;
} Segment;

/* A tensor of the plan as it was. Copies are never replaced themselves. */
typedef struct Use {
    int segment; /* of a storage tensor: the segment whose forward pass makes it, or PLAN_NONE */
    int copy;    /* what is read in its place from now on, or PLAN_NONE */
    bool needed; /* of a storage tensor: backward reads it */
} Use;

typedef struct Work {
    Builder *b;
    const Node *old; /* the nodes of the plan as it was; operands stay where they are */
    int n_old;
    int64_t every, blocks;
    Segment *segments;
    Use *uses; /* of each tensor */
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
    for (int i = 0; i < plan->n_tensors; i++) w->uses[i] = (Use){PLAN_NONE, PLAN_NONE, false};
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
            if (id != PLAN_NONE) w->uses[plan_storage(plan, id)].segment = s;
        }
    }
}

/* The storage of a tensor that this segment's forward pass makes and that is not kept; PLAN_NONE: it is
 * another's, or kept. */
static int recomputed_storage(const Work *w, int s, int id)
{
    const int storage = id == PLAN_NONE ? PLAN_NONE : plan_storage(w->b->plan, id);
    const bool again =
        storage != PLAN_NONE && w->uses[storage].segment == s && storage != w->segments[s].kept;
    return again ? storage : PLAN_NONE;
}

/* ---- what has to be recomputed ---- */

static void need_inputs(Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        const int storage = recomputed_storage(w, s, plan_in_id(w->b->plan, node, i));
        if (storage != PLAN_NONE) w->uses[storage].needed = true;
    }
}

static bool makes_needed(const Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        const int storage = recomputed_storage(w, s, plan_out_id(w->b->plan, node, i));
        if (storage != PLAN_NONE && w->uses[storage].needed) return true;
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
    if (id == PLAN_NONE || w->uses[id].copy != PLAN_NONE)
        return id == PLAN_NONE ? id : w->uses[id].copy;
    Tensor window = w->b->plan->tensors[id]; /* a copy: tensors move while the plan grows */
    if (window.base == PLAN_NONE || w->uses[window.base].copy == PLAN_NONE) return id;
    window.base = w->uses[window.base].copy;
    return w->uses[id].copy = add_tensor(w, &window);
}

static void copy_outputs(Work *w, int s, const Node *node)
{
    for (int i = 0; i < node->n_out && w->b->status == ST_OK; i++) {
        const int storage = recomputed_storage(w, s, plan_out_id(w->b->plan, node, i));
        if (storage == PLAN_NONE || w->uses[storage].copy != PLAN_NONE) continue;
        Tensor again = w->b->plan->tensors[storage];
        again.keep = false;
        w->uses[storage].copy = add_tensor(w, &again);
    }
}

/* The node with every operand replaced, inputs alone for one that is not recomputed. */
static void emit(Work *w, const Node *node)
{
    const int end = node->first + node->n_out + node->n_in;
    for (int i = node->first + (node->recomputed ? 0 : node->n_out); i < end; i++) {
        const int replacement = replaced(w, w->b->plan->operands[i]);
        w->b->plan->operands[i] = replacement;
    }
    if (w->b->status == ST_OK) w->b->status = plan_append_node(w->b->plan, node);
}

/* The norm that a segment begins with adds up the stream, and the sum is what is kept: it is read. */
static void start_from_sum(Work *w, int s, const Node *node)
{
    int *out = w->b->plan->operands + node->first, *in = out + node->n_out;
    if (node->op != OP_rmsnorm && node->op != OP_layernorm) return;
    /* In both the sum is the last output, what is added the last input. */
    int *sum = &out[node->n_out - 1], *delta = &in[node->n_in - 1];
    if (*sum != w->segments[s].kept) return;
    in[0] = *sum;
    *delta = *sum = PLAN_NONE;
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
        if (w->b->status == ST_OK) w->b->status = plan_copy_operands(w->b->plan, &node);
        if (w->b->status != ST_OK) return;
        start_from_sum(w, s, &node);
        emit(w, &node);
    }
    segment->done = true;
}

static void rebuild(Work *w)
{
    for (int n = 0; n < w->n_old && w->b->status == ST_OK; n++) {
        const Node *node = &w->old[n];
        const int s = node->phase == PHASE_BACKWARD ? segment_of_node(w, node) : PLAN_NONE;
        if (s != PLAN_NONE && !w->segments[s].done) compute_again(w, s);
        emit(w, node);
    }
}

/* ---- all of it ---- */

void transform_recompute(Builder *b, const Model *model)
{
    const int64_t every = model->config.recompute;
    const int64_t blocks = transform_recompute_blocks(&model->config);
    if (blocks == 0) return;
    CLEANUP(array_free) Node *old = b->plan->nodes;
    CLEANUP(array_free) Segment *segments = calloc((size_t)(blocks / every) + 1, sizeof *segments);
    CLEANUP(array_free) Use *uses = calloc((size_t)b->plan->n_tensors, sizeof *uses);
    Work w = {b, old, b->plan->n_nodes, every, blocks, segments, uses};
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    if (segments && uses) {
        find_segments(&w, model);
        rebuild(&w);
    } else {
        b->status = NO_MEMORY("to plan recomputation");
    }
}
