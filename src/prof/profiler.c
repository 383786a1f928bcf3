#include "prof/profiler.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "matmul (own neon)", and with its scope: "matmul (own neon): ffn/w13". */
static Status name_kernels(Profiler *p)
{
    for (int i = 0; i < p->rows.n; i++) {
        char name[128 + PLAN_SCOPE];
        OpRow *row = &p->rows.rows[i];
        snprintf(name, sizeof name, "%s (%s)", plan_op_name(row->op), row->by);
        row->brief = trace_log_name(&p->log, name);
        snprintf(name, sizeof name, "%s (%s)%s%s", plan_op_name(row->op), row->by,
                 *row->scope ? ": " : "", row->scope);
        row->kernel = trace_log_name(&p->log, name);
        if (!row->brief || !row->kernel) return NO_MEMORY("for names");
    }
    return ST_OK;
}

Status profiler_open(Profiler *p, const Binding *binding, bool device, int64_t trace_steps)
{
    *p = (Profiler){.binding = binding, .device = device, .trace_steps = trace_steps};
    p->os.began = malloc(PROFILER_THREADS * sizeof *p->os.began);
    p->os.ended = malloc(PROFILER_THREADS * sizeof *p->os.ended);
    Status status = p->os.began && p->os.ended ? ST_OK : NO_MEMORY("to profile");
    if (status == ST_OK) status = op_rows_make(&p->rows, binding);
    if (status == ST_OK) status = name_kernels(p);
    if (status == ST_OK) status = range_tree_make(&p->ranges, binding->plan);
    if (status == ST_OK) status = gpu_stats_make(&p->gpu, binding->plan->n_nodes);
    if (status == ST_OK) status = comm_lane_make(&p->comm, binding->plan);
    if (status != ST_OK) profiler_close(p);
    return status;
}

void profiler_close(Profiler *p)
{
    op_rows_free(&p->rows);
    range_tree_free(&p->ranges);
    trace_log_free(&p->log);
    gpu_stats_free(&p->gpu);
    comm_lane_free(&p->comm);
    free(p->os.began);
    free(p->os.ended);
    *p = (Profiler){0};
}

/* The trace keeps every event of the first steps. */
static Status log_event(Profiler *p, int64_t step, TraceEvent event)
{
    if (!p->recording || step >= p->trace_steps) return ST_OK;
    event.step = (int)step;
    return trace_log_add(&p->log, &event);
}

/* Something that the host did in the step at hand. */
static Status log_host(Profiler *p, TraceEvent event, int64_t begin, int64_t end)
{
    event.begin = begin;
    event.end = end;
    return log_event(p, p->steps, event);
}

/* ---- nodes ---- */

static Status node_begin(void *self, const ObserverEvent *event)
{
    Profiler *p = self;
    const int64_t now = clock_nanoseconds();
    p->node_begin = now;
    for (int level = 0; p->recording && level < RANGE_TREE_LEVELS; level++) {
        const int at = p->ranges.of[event->node][level];
        if (at >= 0 && range_tree_opens(&p->ranges, event->node, level))
            p->ranges.ranges[at].begin = now;
    }
    return ST_OK;
}

static Status close_ranges(Profiler *p, int node, int64_t now)
{
    for (int level = RANGE_TREE_LEVELS; level-- > 0;) {
        const int at = p->ranges.of[node][level];
        if (at < 0) continue;
        Range *range = &p->ranges.ranges[at];
        if (!p->device) range->kernels++;
        if (!range_tree_closes(&p->ranges, node, level)) continue;
        range->end = now;
        running_stats_add(&range->host, (double)(now - range->begin) * 1e-9);
        const TraceEvent event = {
            .kind = TRACE_RANGE, .node = node, .name = range->name, .depth = level};
        TRY(log_host(p, event, range->begin, now));
    }
    return ST_OK;
}

static Status count_as_kernel(Profiler *p, const OpRow *row, int64_t now)
{
    const TraceEvent event = {.kind = TRACE_KERNEL,
                              .begin = p->node_begin,
                              .end = now,
                              .name = row->kernel,
                              .brief = row->brief};
    gpu_stats_gaps_add(&p->gpu.call_gaps, row->kernel, p->node_begin, now);
    TRY(gpu_stats_op(&p->gpu, row, now - p->node_begin));
    return gpu_stats_name(&p->gpu, &event, (int)row->phase);
}

static Status node_end(void *self, const ObserverEvent *event)
{
    Profiler *p = self;
    const int row = p->rows.row[event->node];
    if (!p->recording || row < 0) return ST_OK;
    if (p->waits) TRY(event->api->sync(event->backend));
    const int64_t now = clock_nanoseconds();
    const double seconds = (double)(now - p->node_begin) * 1e-9;
    const Node *node = &event->plan->nodes[event->node];
    p->node_seconds[node->phase] += seconds;
    running_stats_add(&p->rows.rows[row].host, seconds);
    if (!p->device) TRY(count_as_kernel(p, &p->rows.rows[row], now));
    const TraceEvent ran = {
        .kind = TRACE_NODE, .node = event->node, .name = plan_op_name(node->op)};
    TRY(log_host(p, ran, p->node_begin, now));
    TRY(comm_lane_add(&p->comm, &(CommSpan){p->node_begin, now, event->node}));
    TRY(close_ranges(p, event->node, now));
    /* profiling overhead is no gap of the step */
    if (!p->device) p->gpu.call_gaps.end = clock_nanoseconds();
    return ST_OK;
}

Observer profiler_observer(Profiler *p)
{
    return (Observer){.self = p, .begin = node_begin, .end = node_end};
}

/* ---- what ranks send each other ---- */

/* A wait is no gap between ops. */
static void comm_waited(void *self, int node, int64_t begin, int64_t end)
{
    Profiler *p = self;
    const CommWatch watch = comm_lane_watch(&p->comm);
    const size_t before = p->comm.waits.n;
    watch.waited(watch.self, node, begin, end);
    if (!p->device) p->gpu.call_gaps.end = end;
    if (p->comm.waits.n == before) return;
    const TraceEvent event = {.kind = TRACE_WAIT, .node = node, .name = "wait for communication"};
    comm_lane_fail(&p->comm, log_host(p, event, begin, end));
}

static void comm_ran(void *self, int node, int64_t begin, int64_t end)
{
    Profiler *p = self;
    const CommWatch watch = comm_lane_watch(&p->comm);
    watch.ran(watch.self, node, begin, end);
}

CommWatch profiler_comm_watch(Profiler *p)
{
    return (CommWatch){.self = p, .ran = comm_ran, .waited = comm_waited};
}

static Status log_collective(void *self, const CommSpan *span)
{
    Profiler *p = self;
    const char *name = plan_op_name(p->binding->plan->nodes[span->node].op);
    const TraceEvent event = {.kind = TRACE_COLLECTIVE, .node = span->node, .name = name};
    return log_host(p, event, span->begin, span->end);
}

/* ---- what the operating system did ---- */

static void os_end(Profiler *p, double wall)
{
    ProfilerOs *os = &p->os;
    const OsUsage now = os_usage_read(), *then = &os->before;
    os->sum.voluntary += now.voluntary - then->voluntary;
    os->sum.involuntary += now.involuntary - then->involuntary;
    os->sum.minor_faults += now.minor_faults - then->minor_faults;
    os->sum.major_faults += now.major_faults - then->major_faults;
    os->sum.user += now.user - then->user;
    os->sum.system += now.system - then->system;
    const double ran = now.ran - then->ran, waited = now.waited - then->waited;
    os->sum.ran += ran;
    os->sum.waited += waited;
    if (isnan(ran)) return;
    running_stats_add(&os->waiting, waited);
    running_stats_add(&os->blocked, fmax(0, wall - ran - waited));
}

/* ---- steps ---- */

void profiler_step_begin(Profiler *p)
{
    if (p->steps == 0) {
        p->os.n_began = os_usage_threads(p->os.began, PROFILER_THREADS);
        p->os.began_at = clock_nanoseconds();
        p->loop_begin = clock_nanoseconds();
    }
    p->os.before = os_usage_read();
    comm_lane_step_begin(&p->comm);
    p->recording = true;
    p->paused = 0;
    p->step_begin = p->window_begin = clock_nanoseconds();
}

void profiler_phase_begin(Profiler *p)
{
    p->gpu.call_gaps.begun = false;
    p->phase_begin = clock_nanoseconds();
}

Status profiler_phase_end(Profiler *p, Phase phase)
{
    const int64_t now = clock_nanoseconds();
    p->phase_seconds[phase] += (double)(now - p->phase_begin) * 1e-9;
    const TraceEvent event = {.kind = TRACE_PHASE, .node = -1, .name = plan_phase_name(phase)};
    return log_host(p, event, p->phase_begin, now);
}

static void end_window(Profiler *p, int64_t now, bool ends_step)
{
    if (p->n_pending < PROFILER_BATCH)
        p->pending[p->n_pending++] = (ProfilerWindow){p->window_begin, now, p->steps, ends_step};
    p->window_begin = now;
}

void profiler_micro_batch_end(Profiler *p)
{
    end_window(p, clock_nanoseconds(), false);
}

/* A phase runs once for every micro-batch: its time is the sum. */
static void add_phases(Profiler *p)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (p->phase_seconds[phase] > 0)
            running_stats_add(&p->phases[phase], p->phase_seconds[phase]);
        p->phase_seconds[phase] = 0;
    }
}

Status profiler_step_end(Profiler *p)
{
    const int64_t now = clock_nanoseconds();
    const double wall = (double)(now - p->step_begin - p->paused) * 1e-9;
    const TraceEvent event = {.kind = TRACE_STEP, .node = -1, .name = "step"};
    p->loop_end = now;
    running_stats_add(&p->step, wall);
    TRY(log_host(p, event, p->step_begin, now));
    TRY(comm_lane_step_end(&p->comm, p->step_begin, log_collective, p));
    os_end(p, wall);
    add_phases(p);
    end_window(p, now, true);
    p->recording = false;
    p->steps++;
    return ST_OK;
}

/* ---- what the device did ---- */

/* Each phase around what the device ran of it; a nanosecond wider, so that it encloses. */
static Status log_projections(Profiler *p, int64_t step, const TraceEvent *events, size_t n)
{
    TraceEvent around[PHASE_COUNT] = {0};
    for (size_t i = 0; i < n; i++) {
        const TraceEvent *e = &events[i];
        if (e->kind < TRACE_KERNEL || e->kind > TRACE_MEMSET || e->node < 0) continue;
        const Phase phase = p->binding->plan->nodes[e->node].phase;
        TraceEvent *at = &around[phase];
        if (!at->name) {
            *at = (TraceEvent){.kind = TRACE_PROJECTED, .node = -1, .gpu = e->gpu};
            at->name = plan_phase_name(phase);
            at->begin = e->begin - 1;
        }
        if (e->end >= at->end) at->end = e->end + 1;
    }
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (around[phase].name) TRY(log_event(p, step, around[phase]));
    }
    return ST_OK;
}

static Status take_window(Profiler *p, const ProfilerWindow *window, TraceEvent *events, size_t n)
{
    TRY(gpu_stats_pass(&p->gpu, &p->rows, &p->ranges, p->binding->plan, events, n));
    if (window->ends_step) gpu_stats_step_end(&p->gpu);
    TRY(log_projections(p, window->step, events, n));
    for (size_t i = 0; i < n; i++) TRY(log_event(p, window->step, events[i]));
    return ST_OK;
}

static int by_begin(const void *a, const void *b)
{
    const TraceEvent *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The device is idle between them: what begins before the middle of that time is the earlier one's. */
static size_t count_until(const TraceEvent *events, size_t n, int64_t until)
{
    size_t i = 0;
    while (i < n && events[i].begin < until) i++;
    return i;
}

Status profiler_device_events(Profiler *p, TraceEvent *events, size_t n)
{
    const int64_t began = clock_nanoseconds();
    const bool recording = p->recording; /* in the middle of a step */
    Status status = ST_OK;
    if (n) qsort(events, n, sizeof *events, by_begin);
    p->recording = true;
    for (int i = 0; i < p->n_pending && p->device && status == ST_OK; i++) {
        const bool last = i + 1 == p->n_pending;
        const size_t own =
            last ? n : count_until(events, n, p->pending[i].end / 2 + p->pending[i + 1].begin / 2);
        status = take_window(p, &p->pending[i], events, own);
        if (own) events += own;
        n -= own;
    }
    p->recording = recording;
    p->n_pending = 0;
    p->window_begin = clock_nanoseconds();
    p->paused += p->window_begin - began;
    return status;
}

void profiler_finish(Profiler *p)
{
    p->os.ended_at = clock_nanoseconds();
    p->os.n_ended = os_usage_threads(p->os.ended, PROFILER_THREADS);
}
