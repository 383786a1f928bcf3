#include "bench/estimate/memory_rank.h"

#include "base/array.h"
#include "base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double mib = 1024.0 * 1024.0;

static const char *const names[MEMORY_RANK_FIGURES] = {
#define FIGURE(name) #name "_mib",
#include "bench/estimate/memory_rank_figures.def"
};

static const char *const moments[MEMORY_RANK_MOMENTS] = {"peak", "initial", "before_optimizer",
                                                         "after_optimizer"};

/* ---- what is alive ---- */

static bool is_sent(const Plan *plan, int tensor)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (plan_op_category(node->op) != CATEGORY_communication) continue;
        for (int k = 0; k < node->n_out + node->n_in; k++) {
            const int id = plan->operands[node->first + k];
            if (id == tensor) return true;
        }
    }
    return false;
}

/* Others are windows into it, and all of it travels at once. Parameters may, too, and are none. */
static bool is_bucket(const Plan *plan, const MemoryBlock *block)
{
    bool holds = false;
    const bool lasts = block->persistent && block->usage != MEMORY_GRAD_SUM;
    if (lasts || block->usage == MEMORY_GATHERED || block->tensor == PLAN_NONE) return false;
    for (int i = 0; i < plan->n_tensors && !holds; i++)
        holds = plan->tensors[i].base == block->tensor;
    return holds && is_sent(plan, block->tensor);
}

static MemoryRankFigure figure_of(MemoryClass usage)
{
    static const MemoryRankFigure of[MEMORY_COUNT] = {
        [MEMORY_PARAM] = MEMORY_RANK_parameters,
        [MEMORY_MASTER] = MEMORY_RANK_parameters,
        [MEMORY_COPY] = MEMORY_RANK_parameters,
        [MEMORY_GATHERED] = MEMORY_RANK_parameters,
        [MEMORY_MOMENT] = MEMORY_RANK_moments,
        [MEMORY_GRAD_SUM] = MEMORY_RANK_gradients,
        [MEMORY_FIXED] = MEMORY_RANK_workspace,
        [MEMORY_GRAD] = MEMORY_RANK_gradients,
        [MEMORY_ACTIVATION] = MEMORY_RANK_activations,
        [MEMORY_RECOMPUTED] = MEMORY_RANK_activations,
        [MEMORY_ACTIVATION_GRAD] = MEMORY_RANK_activations,
        [MEMORY_LOGITS] = MEMORY_RANK_activations,
        [MEMORY_WORKSPACE] = MEMORY_RANK_workspace,
    };
    return of[usage];
}

/* At a node of a later step; before the first node of all; after the last. */
static bool is_alive(const MemoryProfile *profile, const MemoryBlock *block,
                     MemoryRankMoment moment, int node)
{
    const Plan *plan = &profile->blocks.model->plan;
    const bool kept = block->tensor != PLAN_NONE && plan->tensors[block->tensor].keep;
    if (moment == MEMORY_RANK_INITIAL) return block->persistent && block->producer < node;
    if (moment == MEMORY_RANK_AFTER)
        return block->persistent || (kept && block->last == plan->n_nodes - 1);
    return memory_profile_alive(block, node);
}

static void put_alive(MemoryRank *rank, const MemoryProfile *profile, MemoryRankMoment moment,
                      int node)
{
    const Plan *plan = &profile->blocks.model->plan;
    double *mib_of = rank->mib[moment];
    for (int f = MEMORY_RANK_parameters; f <= MEMORY_RANK_alive; f++) mib_of[f] = 0;
    for (int i = 0; i < profile->blocks.n; i++) {
        const MemoryBlock *block = &profile->blocks.blocks[i];
        if (!is_alive(profile, block, moment, node)) continue;
        const bool bucket = is_bucket(plan, block);
        mib_of[bucket ? MEMORY_RANK_buckets : figure_of(block->usage)] +=
            (double)block->bytes / mib;
        mib_of[MEMORY_RANK_alive] += (double)block->bytes / mib;
    }
}

/* ---- what is written, and so held where pages come as they are touched ---- */

typedef struct Part {
    uint64_t begin, end;
} Part;

static int by_begin(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Moments are cleared before the first step, copies made by nodes of the setup. */
static bool is_written(const MemoryBlock *block, int node)
{
    if (block->usage == MEMORY_MOMENT) return true;
    return block->persistent ? block->producer < node : block->first < node;
}

Status memory_rank_written(const MemoryBlocks *blocks, int node, size_t *bytes)
{
    CLEANUP(array_free) Part *parts = malloc(((size_t)blocks->n + 1) * sizeof *parts);
    size_t n = 0;
    uint64_t until = 0, sum = 0;
    if (!parts) return NO_MEMORY("for %d blocks", blocks->n);
    for (int i = 0; i < blocks->n; i++) {
        const MemoryBlock *block = &blocks->blocks[i];
        if (!is_written(block, node)) continue;
        parts[n++] = (Part){block->address, block->address + block->bytes};
    }
    qsort(parts, n, sizeof *parts, by_begin);
    for (size_t i = 0; i < n; i++) {
        const uint64_t begin = parts[i].begin > until ? parts[i].begin : until;
        if (parts[i].end <= begin) continue;
        sum += parts[i].end - begin;
        until = parts[i].end;
    }
    *bytes = (size_t)sum;
    return ST_OK;
}

static Status put_moment(MemoryRank *rank, const MemoryProfile *profile, MemoryRankMoment moment,
                         int node)
{
    const int end = profile->blocks.model->plan.n_nodes;
    const bool whole = moment == MEMORY_RANK_PEAK || moment == MEMORY_RANK_AFTER;
    size_t bytes = 0;
    put_alive(rank, profile, moment, node);
    TRY(memory_rank_written(&profile->blocks, whole ? end : node, &bytes));
    rank->mib[moment][MEMORY_RANK_planned] = (double)bytes / mib;
    return ST_OK;
}

Status memory_rank_plan(MemoryRank *rank, const MemoryProfile *profile)
{
    const Plan *plan = &profile->blocks.model->plan;
    int forward = 0, optimizer = 0, end = 0;
    for (int m = 0; m < MEMORY_RANK_MOMENTS; m++) {
        for (int f = 0; f < MEMORY_RANK_FIGURES; f++) rank->mib[m][f] = NAN;
    }
    TRY(put_moment(rank, profile, MEMORY_RANK_PEAK, profile->highest[MEMORY_LATER_STEP].node));
    plan_phase_nodes(plan, PHASE_FORWARD, &forward, &end);
    TRY(put_moment(rank, profile, MEMORY_RANK_INITIAL, forward));
    plan_phase_nodes(plan, PHASE_OPTIMIZER, &optimizer, &end);
    if (optimizer == end) return ST_OK;
    TRY(put_moment(rank, profile, MEMORY_RANK_BEFORE, optimizer));
    return put_moment(rank, profile, MEMORY_RANK_AFTER, end);
}

/* ---- all ranks ---- */

static json_t *moment_json(const double *mib_of)
{
    json_t *object = json_object();
    for (int f = 0; f < MEMORY_RANK_FIGURES; f++)
        json_object_set_new(object, names[f], json_text_real(mib_of[f]));
    return object;
}

json_t *memory_rank_json(const MemoryRank *rank)
{
    json_t *object = json_object();
    for (int m = 0; m < MEMORY_RANK_MOMENTS; m++)
        json_object_set_new(object, moments[m], moment_json(rank->mib[m]));
    return object;
}

static void read_rank(MemoryRank *rank, const json_t *json)
{
    for (int m = 0; m < MEMORY_RANK_MOMENTS; m++) {
        const json_t *moment = json_object_get(json, moments[m]);
        for (int f = 0; f < MEMORY_RANK_FIGURES; f++) {
            const json_t *value = json_object_get(moment, names[f]);
            rank->mib[m][f] = json_is_number(value) ? json_number_value(value) : NAN;
        }
    }
}

Status memory_rank_read(MemoryRanks *ranks, const json_t *record)
{
    const json_t *list = json_object_get(record, "memory_ranks");
    *ranks = (MemoryRanks){.n = (int)json_array_size(list)};
    ranks->list = calloc((size_t)ranks->n + 1, sizeof *ranks->list);
    if (!ranks->list) return NO_MEMORY("for %d ranks", ranks->n);
    for (int r = 0; r < ranks->n; r++) read_rank(&ranks->list[r], json_array_get(list, (size_t)r));
    return ST_OK;
}

static bool is_like(double a, double b, bool measured)
{
    static const double rounding = 1e-9, share = 0.005, huge_page = 2; /* MiB */
    const double most = fmax(fabs(a), fabs(b));
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return fabs(a - b) <= (measured ? fmax(share * most, huge_page) : rounding * most);
}

static bool are_like(const MemoryRank *a, const MemoryRank *b)
{
    for (int m = 0; m < MEMORY_RANK_MOMENTS; m++) {
        for (int f = 0; f < MEMORY_RANK_FIGURES; f++) {
            if (!is_like(a->mib[m][f], b->mib[m][f], f >= MEMORY_RANK_measured)) return false;
        }
    }
    return true;
}

bool memory_rank_alike(const MemoryRanks *ranks)
{
    for (int r = 1; r < ranks->n; r++) {
        if (!are_like(&ranks->list[0], &ranks->list[r])) return false;
    }
    return true;
}

MemoryRank memory_rank_largest(const MemoryRanks *ranks)
{
    MemoryRank largest = ranks->list[0];
    for (int r = 1; r < ranks->n; r++) {
        for (int m = 0; m < MEMORY_RANK_MOMENTS; m++) {
            for (int f = 0; f < MEMORY_RANK_FIGURES; f++)
                largest.mib[m][f] = fmax(largest.mib[m][f], ranks->list[r].mib[m][f]);
        }
    }
    return largest;
}
