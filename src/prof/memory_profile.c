#include "prof/memory_profile.h"

#include <stdlib.h>

bool memory_profile_alive(const MemoryBlock *block, int node)
{
    return block->first <= node && node <= block->last;
}

/* ---- the timeline ---- */

/* Changes at births and deaths, then a running sum; unsigned wrap-around cancels out. */
static void fill_live(MemoryProfile *p, int n_nodes)
{
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        p->live[b->first * MEMORY_COUNT + (int)b->usage] += b->bytes;
        p->live[(b->last + 1) * MEMORY_COUNT + (int)b->usage] -= b->bytes;
    }
    for (int i = MEMORY_COUNT; i < n_nodes * MEMORY_COUNT; i++) {
        p->live[i] += p->live[i - MEMORY_COUNT];
    }
}

static void fill_unwritten(MemoryProfile *p, int n_nodes)
{
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        if (b->usage != MEMORY_MOMENT || b->producer == PLAN_NONE) continue;
        p->unwritten[b->producer] += b->bytes; /* until its producer has begun */
    }
    size_t later = 0;
    for (int n = n_nodes; n-- > 0;) {
        const size_t born = p->unwritten[n];
        p->unwritten[n] = later;
        later += born;
    }
}

MemoryMoment memory_profile_at(const MemoryProfile *p, MemoryStep step, int node)
{
    MemoryMoment moment = {.node = node};
    for (int u = 0; u < MEMORY_COUNT; u++) {
        moment.usage[u] = p->live[node * MEMORY_COUNT + u];
        if (u == MEMORY_MOMENT && step == MEMORY_FIRST_STEP) moment.usage[u] -= p->unwritten[node];
        moment.total += moment.usage[u];
    }
    return moment;
}

int memory_profile_nodes(const MemoryProfile *p)
{
    const Plan *plan = &p->blocks.model->plan;
    int begin = 0, end = 0;
    plan_phase_nodes(plan, PHASE_FORWARD, &begin, &end);
    return plan->n_nodes - begin;
}

MemoryMoment memory_profile_column(const MemoryProfile *p, int column, int n)
{
    const int nodes = memory_profile_nodes(p), setup = p->blocks.model->plan.n_nodes - nodes;
    const int64_t all = 2 * (int64_t)nodes;
    const int from = (int)(column * all / n), to = (int)((column + 1) * all / n);
    MemoryMoment most = {.node = PLAN_NONE};
    for (int i = from; i < to || i == from; i++) {
        const MemoryStep step = i < nodes ? MEMORY_FIRST_STEP : MEMORY_LATER_STEP;
        const MemoryMoment moment = memory_profile_at(p, step, setup + i % nodes);
        if (most.node == PLAN_NONE || moment.total > most.total) most = moment;
    }
    return most;
}

/* ---- its highest points ---- */

static void find_peaks(MemoryProfile *p, MemoryStep step)
{
    const Plan *plan = &p->blocks.model->plan;
    p->highest[step].node = PLAN_NONE;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        MemoryMoment *peak = &p->peak[step][phase];
        int begin = 0, end = 0;
        peak->node = PLAN_NONE;
        if (phase == PHASE_SETUP) continue; /* before any step, and below all of them */
        plan_phase_nodes(plan, (Phase)phase, &begin, &end);
        for (int n = begin; n < end; n++) {
            const MemoryMoment moment = memory_profile_at(p, step, n);
            if (peak->node == PLAN_NONE || moment.total > peak->total) *peak = moment;
        }
        if (peak->node == PLAN_NONE) continue;
        if (peak->total > p->highest[step].total) p->highest[step] = *peak;
    }
}

static void find_between(MemoryProfile *p)
{
    const int end = p->blocks.model->plan.n_nodes - 1;
    p->between.node = end;
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        const bool kept = b->tensor != PLAN_NONE && p->blocks.model->plan.tensors[b->tensor].keep;
        if (!b->persistent && !(kept && b->last == end)) continue;
        p->between.usage[b->usage] += b->bytes;
        p->between.total += b->bytes;
    }
}

static void find_by_op(MemoryProfile *p)
{
    const Plan *plan = &p->blocks.model->plan;
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        if (b->usage != MEMORY_ACTIVATION && b->usage != MEMORY_RECOMPUTED) continue;
        if (b->producer == PLAN_NONE) continue;
        if (!memory_profile_alive(b, p->highest[MEMORY_LATER_STEP].node)) continue;
        p->by_op[plan->nodes[b->producer].op] += b->bytes;
    }
}

/* ---- the largest ---- */

static void insert(MemorySaved *list, int *n, int most, MemorySaved item)
{
    int at = *n < most ? (*n)++ : most;
    for (; at > 0 && list[at - 1].bytes < item.bytes; at--) {
        if (at < most) list[at] = list[at - 1];
    }
    if (at < most) list[at] = item;
}

int memory_profile_largest(const MemoryProfile *p, int node, MemorySaved *out, int most)
{
    int n = 0;
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        if (memory_profile_alive(b, node)) insert(out, &n, most, (MemorySaved){i, b->bytes});
    }
    return n;
}

/* ---- one block of the model ---- */

static bool made_in(const MemoryProfile *p, const MemoryBlock *b, int layer)
{
    const Node *node = memory_blocks_node(&p->blocks, b);
    return node && node->layer == layer && b->tensor != PLAN_NONE;
}

/* Most bytes of that use, made in that layer, at once. */
static size_t most_at_once(const MemoryProfile *p, int layer, MemoryClass usage, int begin, int end)
{
    size_t most = 0;
    for (int n = begin; n < end; n++) {
        size_t sum = 0;
        if (p->blocks.model->plan.nodes[n].layer != layer) continue;
        for (int i = 0; i < p->blocks.n; i++) {
            const MemoryBlock *b = &p->blocks.blocks[i];
            if (b->usage == usage && memory_profile_alive(b, n) && made_in(p, b, layer))
                sum += b->bytes;
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* For a backward pass that is not run. */
static bool is_saved(const MemoryProfile *p, const MemoryBlock *b)
{
    return p->blocks.model->plan.tensors[b->tensor].saved;
}

static void measure_layer(MemoryProfile *p, int layer)
{
    MemoryLayer *at = &p->layer;
    int begin = 0, end = 0;
    plan_phase_nodes(&p->blocks.model->plan, PHASE_BACKWARD, &begin, &end);
    at->layer = layer;
    for (int i = 0; i < p->blocks.n; i++) {
        const MemoryBlock *b = &p->blocks.blocks[i];
        if (!made_in(p, b, layer) || b->persistent) continue; /* sums stay from step to step */
        if (b->usage == MEMORY_GRAD) at->weight_gradients += b->bytes;
        if (begin < end ? b->first >= begin || b->last < begin : !is_saved(p, b)) continue;
        at->saved += b->bytes;
        insert(at->largest, &at->n_largest, MEMORY_LARGEST, (MemorySaved){i, b->bytes});
    }
    at->activation_gradients = most_at_once(p, layer, MEMORY_ACTIVATION_GRAD, begin, end);
    at->recomputed = most_at_once(p, layer, MEMORY_RECOMPUTED, begin, end);
}

/* ---- all of it ---- */

static void measure(MemoryProfile *p)
{
    const Model *model = p->blocks.model;
    fill_live(p, model->plan.n_nodes);
    fill_unwritten(p, model->plan.n_nodes);
    for (int step = 0; step < MEMORY_STEPS; step++) find_peaks(p, (MemoryStep)step);
    find_between(p);
    find_by_op(p);
    p->reserved = mem_plan_total(&p->blocks.binding->mem);
    if (!model->stream) return;
    p->stream = plan_bytes(&model->plan.tensors[model->stream[0]]);
    measure_layer(p, (int)(model->config.model.num_layers / 2));
}

Status memory_profile_make(MemoryProfile *p, const Model *model, const Binding *binding)
{
    const size_t n = (size_t)model->plan.n_nodes + 1;
    *p = (MemoryProfile){0};
    TRY(memory_blocks_make(&p->blocks, model, binding));
    p->live = calloc(n * MEMORY_COUNT, sizeof *p->live);
    p->unwritten = calloc(n, sizeof *p->unwritten);
    if (p->live && p->unwritten) {
        measure(p);
        return ST_OK;
    }
    memory_profile_free(p);
    return NO_MEMORY("for the timeline of %d nodes", model->plan.n_nodes);
}

void memory_profile_free(MemoryProfile *p)
{
    memory_blocks_free(&p->blocks);
    free(p->live);
    free(p->unwritten);
    *p = (MemoryProfile){0};
}
