#include "prof/gpu_stats.h"

#include "base/array.h"
#include "base/i64.h"

#include <math.h>
#include <stdlib.h>

static double seconds_of(const TraceEvent *event)
{
    return (double)(event->end - event->begin) * 1e-9;
}

/* ---- durations by name ---- */

static Status append(NameStatsTable *names, const TraceEvent *event, int row)
{
    TRY(array_grow(&names->list, (size_t)names->n, 1, sizeof *names->list));
    TRY(array_grow(&names->keys, (size_t)names->n, 1, sizeof *names->keys));
    names->keys[names->n] = (NameKey){event->name, row};
    names->list[names->n++] = (NameStats){.kind = event->kind, .name = event->name, .row = row};
    return ST_OK;
}

static Status name_stats_add(NameStatsTable *names, const TraceEvent *event, int row)
{
    const NameKey *keys = names->keys;
    int i = 0;
    while (i < names->n && (keys[i].row != row || keys[i].name != event->name)) i++;
    if (i == names->n) TRY(append(names, event, row));
    NameStats *at = &names->list[i];
    if (event->kind == TRACE_MEMCPY || event->kind == TRACE_MEMSET)
        running_stats_add(&at->bytes, (double)event->gpu.bytes);
    running_stats_add(&at->seconds, seconds_of(event));
    return ST_OK;
}

/* ---- gaps on the host ---- */

static void add_host_gap(HostGaps *gaps, const char *next, int64_t ns)
{
    const double seconds = (double)ns * 1e-9;
    if (gaps->seconds.n == 0 || seconds > gaps->seconds.max) {
        gaps->after = gaps->last;
        gaps->before = next;
    }
    running_stats_add(&gaps->seconds, seconds);
}

void gpu_stats_gaps_add(HostGaps *gaps, const char *name, int64_t begin, int64_t end)
{
    if (gaps->begun && begin > gaps->end) add_host_gap(gaps, name, begin - gaps->end);
    if (!gaps->begun || end > gaps->end) {
        gaps->end = end;
        gaps->last = name;
    }
    gaps->begun = true;
}

/* ---- all of it ---- */

Status gpu_stats_make(GpuStats *stats, int n_nodes)
{
    *stats = (GpuStats){.longest_after = -1, .longest_before = -1};
    stats->busy_ns = calloc((size_t)n_nodes + 1, sizeof *stats->busy_ns);
    return stats->busy_ns ? ST_OK : NO_MEMORY("for %d nodes", n_nodes);
}

static void free_names(NameStatsTable *names)
{
    free(names->list);
    free(names->keys);
}

void gpu_stats_free(GpuStats *stats)
{
    free_names(&stats->by_row);
    free_names(&stats->by_name);
    free_names(&stats->by_brief);
    free_names(&stats->by_phase);
    free_names(&stats->by_op);
    free_names(&stats->calls);
    free_names(&stats->row_calls);
    free(stats->busy_ns);
    *stats = (GpuStats){0};
}

static bool on_device(const TraceEvent *event)
{
    return event->kind == TRACE_KERNEL || event->kind == TRACE_MEMCPY ||
           event->kind == TRACE_MEMSET;
}

static int by_begin(const void *a, const void *b)
{
    const TraceEvent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

/* ---- launches ---- */

typedef struct Launch {
    uint32_t correlation;
    int64_t begin;
    bool used;
} Launch;

static int by_correlation(const void *a, const void *b)
{
    const Launch *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Of a graph only its first kernel waited for the launch; events are in order. */
static Status add_latencies(GpuStats *stats, const TraceEvent *events, size_t n)
{
    size_t n_launches = 0;
    CLEANUP(array_free) Launch *launches = malloc((n + 1) * sizeof *launches);
    if (!launches) return NO_MEMORY("for %zu launches", n);
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind == TRACE_API && events[i].correlation)
            launches[n_launches++] = (Launch){events[i].correlation, events[i].begin, false};
    }
    qsort(launches, n_launches, sizeof *launches, by_correlation);
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != TRACE_KERNEL) continue;
        const Launch key = {.correlation = events[i].correlation};
        Launch *launch = bsearch(&key, launches, n_launches, sizeof key, by_correlation);
        if (!launch || launch->used) continue;
        running_stats_add(&stats->latency,
                          fmax(0, (double)(events[i].begin - launch->begin) * 1e-9));
        launch->used = true;
    }
    return ST_OK;
}

/* ---- one step ---- */

/* What ran last in the phase at hand. */
typedef struct PhaseTail {
    Phase phase; /* PHASE_COUNT: nothing yet */
    int64_t end;
    int node;
} PhaseTail;

static void add_gap(GpuStats *stats, const PhaseTail *last, const TraceEvent *event)
{
    const double gap = (double)(event->begin - last->end) * 1e-9;
    if (gap > stats->longest) {
        stats->longest = gap;
        stats->longest_after = last->node;
        stats->longest_before = event->node;
    }
    running_stats_add(&stats->gaps, gap);
}

/* Events come by their begin: what is new of one is the part after the latest end so far. */
static void add_to_phase(GpuStats *stats, PhaseTail *last, Phase phase, const TraceEvent *event)
{
    GpuPhase *at = &stats->phases[phase];
    if (last->phase != phase) {
        *last = (PhaseTail){phase, event->begin, event->node};
    } else if (event->begin > last->end) {
        add_gap(stats, last, event);
    }
    const int64_t from = i64_max(event->begin, last->end);
    if (event->end > from) {
        at->busy += (double)(event->end - from) * 1e-9;
        at->now += (double)(event->end - last->end) * 1e-9;
        last->end = event->end;
        last->node = event->node;
    }
    at->work += seconds_of(event);
    at->kernels++;
}

static void add_to_ranges(RangeTree *tree, const TraceEvent *event)
{
    for (int level = 0; level < RANGE_TREE_LEVELS; level++) {
        const int at = tree->of[event->node][level];
        if (at < 0) continue;
        Range *range = &tree->ranges[at];
        if (range->last < range->first) range->first = event->begin;
        range->last = i64_max(event->end, range->last);
        range->busy += event->end - event->begin;
        range->kernels++;
    }
}

Status gpu_stats_name(GpuStats *stats, const TraceEvent *event, int phase)
{
    TRY(name_stats_add(&stats->by_name, event, NAME_STATS_ANY_ROW));
    TRY(name_stats_add(&stats->by_phase, event, phase));
    if (event->kind != TRACE_KERNEL) return ST_OK;
    TraceEvent brief = *event;
    brief.name = event->brief;
    return name_stats_add(&stats->by_brief, &brief, NAME_STATS_ANY_ROW);
}

Status gpu_stats_op(GpuStats *stats, const OpRow *row, int64_t ns)
{
    const TraceEvent node = {.kind = TRACE_KERNEL, .name = row->brief, .end = ns};
    TRY(name_stats_add(&stats->by_op, &node, NAME_STATS_ANY_ROW));
    return name_stats_add(&stats->by_op, &node, (int)row->phase);
}

static Status add_device_event(GpuStats *stats, PhaseTail *last, OpRows *rows, RangeTree *tree,
                               const Plan *plan, const TraceEvent *event)
{
    const bool known = event->node >= 0;
    *(event->kind == TRACE_KERNEL ? &stats->compute : &stats->copies) += seconds_of(event);
    TRY(gpu_stats_name(stats, event, known ? (int)plan->nodes[event->node].phase : -1));
    TRY(name_stats_add(&stats->by_row, event, known ? rows->row[event->node] : -1));
    if (!known) {
        stats->unattributed++;
        stats->unattributed_seconds += seconds_of(event);
        return ST_OK;
    }
    stats->busy_ns[event->node] += event->end - event->begin;
    add_to_ranges(tree, event);
    add_to_phase(stats, last, plan->nodes[event->node].phase, event);
    return ST_OK;
}

static Status add_call(GpuStats *stats, const OpRows *rows, const TraceEvent *event)
{
    gpu_stats_gaps_add(&stats->call_gaps, event->name, event->begin, event->end);
    TRY(name_stats_add(&stats->calls, event, NAME_STATS_ANY_ROW));
    return name_stats_add(&stats->row_calls, event, event->node >= 0 ? rows->row[event->node] : -1);
}

static void finish_range(Range *range)
{
    if (range->last < range->first) return;
    const bool host_first = range->end > range->begin && range->begin < range->first;
    const int64_t begin = host_first ? range->begin : range->first;
    const int64_t end = i64_max(range->end, range->last);
    running_stats_add(&range->span, (double)(range->last - range->first) * 1e-9);
    running_stats_add(&range->wall, (double)(end - begin) * 1e-9);
    range->device += (double)range->busy * 1e-9;
    range->first = range->busy = range->begin = range->end = 0;
    range->last = -1;
}

static Status finish_pass(GpuStats *stats, OpRows *rows, RangeTree *tree, const Plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        if (rows->row[i] < 0 || stats->busy_ns[i] == 0) continue;
        OpRow *row = &rows->rows[rows->row[i]];
        running_stats_add(&row->device, (double)stats->busy_ns[i] * 1e-9);
        TRY(gpu_stats_op(stats, row, stats->busy_ns[i]));
        stats->busy_ns[i] = 0;
    }
    for (int i = 0; i < tree->n; i++) finish_range(&tree->ranges[i]);
    return ST_OK;
}

void gpu_stats_step_end(GpuStats *stats)
{
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (stats->phases[p].now > 0)
            running_stats_add(&stats->phases[p].span, stats->phases[p].now);
        stats->phases[p].now = 0;
    }
}

Status gpu_stats_pass(GpuStats *stats, OpRows *rows, RangeTree *tree, const Plan *plan,
                      TraceEvent *events, size_t n)
{
    PhaseTail last = {.phase = PHASE_COUNT};
    stats->call_gaps.begun = false;
    if (n) qsort(events, n, sizeof *events, by_begin);
    for (size_t i = 0; i < n; i++) {
        if (on_device(&events[i]))
            TRY(add_device_event(stats, &last, rows, tree, plan, &events[i]));
        else if (events[i].kind == TRACE_API)
            TRY(add_call(stats, rows, &events[i]));
        else if (events[i].kind == TRACE_OVERHEAD)
            stats->overhead += seconds_of(&events[i]);
    }
    TRY(add_latencies(stats, events, n));
    return finish_pass(stats, rows, tree, plan);
}
