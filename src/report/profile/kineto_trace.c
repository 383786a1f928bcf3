#include "report/profile/kineto_trace.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/gzip_file.h"
#include "prof/memory_walk.h"
#include "report/profile/trace_ranks.h"
#include "report/profile/trace_text.h"
#include "report/profile/trace_tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALL_TRACK = 1, COMM_TRACK = 2 }; /* threads after the stepping one */

typedef struct Writer {
    GzipFile out;
    const CellOpen *cell;
    const Profiler *p;
    const Comm *comm; /* of the rank; NULL: there is one */
    bool source;
    int pid;
    int64_t base; /* of all times */
    TraceTracks tracks;
    MemoryWalk memory;
    int step;
    int64_t now;     /* when the walk is there */
    size_t counted;  /* bytes: the counter's last value */
    uint32_t *calls; /* correlations of the calls in the trace, sorted */
    size_t n_calls;
    uint32_t last_flow; /* the correlation it belongs to */
    int64_t sent[2];    /* from when to when the last collective ran, */
    int sent_tid;       /* and where; 0: there was none */
    uint32_t n_waits;
} Writer;

/* ---- fields ---- */

static void put_slice(Writer *w, const char *category, const char *name, int pid, int tid,
                      int64_t begin, int64_t end)
{
    trace_text_slice(&w->out.text, category, name, pid, tid, begin - w->base, end - begin);
}

static void put_flow(Writer *w, const char *ph, int pid, int tid, int64_t at, uint32_t id)
{
    trace_text_flow(&w->out.text, ph, pid, tid, at - w->base, id);
}

static void put_source(Text *t, OpSource source)
{
    text_puts(t, ", \"source\": ");
    trace_text_string(t, source.file);
    text_printf(t, ", \"line\": %d", source.line);
}

/* What a node is, as arguments of its slice and of its kernels. */
static void put_node(Writer *w, int node)
{
    Text *t = &w->out.text;
    if (node < 0) return;
    const Node *n = &w->p->binding->plan->nodes[node];
    const OpRow *row = &w->p->rows.rows[w->p->rows.row[node]];
    text_printf(t, "\"External id\": %d, \"phase\": \"%s\", \"scope\": ", node + 1,
                plan_phase_name(n->phase));
    trace_text_string(t, n->scope);
    text_printf(t, ", \"op\": \"%s\", \"category\": \"%s\"", plan_op_name(n->op),
                plan_category_name(row->category));
    if (w->source) put_source(t, op_source(n->op));
}

/* ---- events ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int stream_of(const TraceEvent *e)
{
    return e->gpu.stream > 0 ? e->gpu.stream : 7; /* the default stream; HTA takes 0 for none */
}

static void put_annotation(Writer *w, const char *name, int64_t begin, int64_t end)
{
    put_slice(w, "user_annotation", name, w->pid, w->pid, begin, end);
    text_puts(&w->out.text, "}}");
}

static void put_step(Writer *w, int step, int64_t begin, int64_t end)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", step);
    put_annotation(w, name, begin, end);
}

/* The event of PyTorch's allocator, plus the use of the memory. */
static void put_block(void *self, const MemoryBlock *block, bool born)
{
    Writer *w = self;
    Text *t = &w->out.text;
    if (!w->source) return;
    text_printf(t,
                ",\n{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", "
                "\"name\": \"[memory]\", \"pid\": %d, \"tid\": %d",
                w->pid, w->pid);
    trace_text_time(t, "ts", w->now - w->base);
    text_printf(t,
                ", \"args\": {\"Total Allocated\": %zu, \"Bytes\": %s%zu, \"Addr\": %llu, "
                "\"use\": \"%s\", \"tensor\": ",
                w->memory.live, born ? "" : "-", block->bytes, (unsigned long long)block->address,
                memory_blocks_class_name(block->usage));
    trace_text_string(t, memory_blocks_name(w->memory.list, block).s);
    if (block->producer == PLAN_NONE) {
        put_source(t, memory_blocks_source(w->memory.list, block));
    } else {
        text_puts(t, ", ");
        put_node(w, block->producer);
    }
    text_puts(t, "}}");
}

/* A forward pass that follows a backward pass of the same step. */
static bool begins_micro_batch(const Writer *w, const TraceEvent *e)
{
    const Node *nodes = w->p->binding->plan->nodes;
    return w->memory.node >= 0 && nodes[w->memory.node].phase == PHASE_BACKWARD &&
           nodes[e->node].phase == PHASE_FORWARD;
}

static void put_memory(Writer *w, const TraceEvent *e)
{
    w->now = e->begin;
    if (e->step != w->step)
        memory_walk_next_step(&w->memory, put_block, w);
    else if (begins_micro_batch(w, e))
        memory_walk_next_micro_batch(&w->memory, put_block, w);
    w->step = e->step;
    memory_walk_to(&w->memory, e->node, put_block, w);
    if (w->memory.live == w->counted) return;
    w->counted = w->memory.live;
    text_printf(&w->out.text,
                ",\n{\"ph\": \"C\", \"name\": \"planned memory\", \"pid\": %d, \"tid\": 0", w->pid);
    trace_text_time(&w->out.text, "ts", e->begin - w->base);
    text_printf(&w->out.text, ", \"args\": {\"live bytes\": %zu}}", w->memory.live);
}

static void put_op(Writer *w, const TraceEvent *e)
{
    const OpRow *row = &w->p->rows.rows[w->p->rows.row[e->node]];
    char shape[96];
    put_slice(w, "cpu_op", e->name, w->pid, w->pid, e->begin, e->end);
    put_node(w, e->node);
    op_rows_shape(w->p->binding->plan, &w->p->binding->plan->nodes[e->node], shape, sizeof shape);
    text_printf(&w->out.text, ", \"implementation\": \"%s\", \"shapes\": \"%s\"}}", row->impl,
                shape);
}

static void put_call(Writer *w, const TraceEvent *e)
{
    const int tid = trace_tracks_place(&w->tracks, w->pid, w->pid + CALL_TRACK, e->begin, e->end);
    put_slice(w, e->driver ? "cuda_driver" : "cuda_runtime", e->name, w->pid, tid, e->begin,
              e->end);
    put_node(w, e->node);
    text_printf(&w->out.text, "%s\"correlation\": %u}}", e->node < 0 ? "" : ", ", e->correlation);
    if (e->correlation) put_flow(w, "s", w->pid, tid, e->begin, e->correlation);
}

/* ---- what ranks send each other ---- */

static void put_collective(Writer *w, const TraceEvent *e)
{
    const int tid = trace_tracks_place(&w->tracks, w->pid, w->pid + COMM_TRACK, e->begin, e->end);
    put_slice(w, "cpu_op", e->name, w->pid, tid, e->begin, e->end);
    put_node(w, e->node);
    trace_ranks_collective(&w->out.text, w->p->binding->plan, e->node);
    text_puts(&w->out.text, "}}");
    w->sent[0] = e->begin;
    w->sent[1] = e->end;
    w->sent_tid = tid;
}

/* With an arrow from the collective that ran when it began. */
static void put_wait(Writer *w, const TraceEvent *e)
{
    enum { FIRST_ID = 1 << 30 }; /* beyond what numbers calls of a GPU */
    put_slice(w, "cpu_op", e->name, w->pid, w->pid, e->begin, e->end);
    put_node(w, e->node);
    text_puts(&w->out.text, "}}");
    if (!w->sent_tid || w->sent[1] <= e->begin) return;
    const uint32_t id = FIRST_ID + w->n_waits++;
    put_flow(w, "s", w->pid, w->sent_tid, w->sent[0], id);
    put_flow(w, "f", w->pid, w->pid, e->begin, id);
}

/* ---- what a GPU ran ---- */

/* A flow must have both ends, and ends once: a graph's kernels follow each other. */
static bool takes_flow(Writer *w, uint32_t correlation)
{
    if (correlation == w->last_flow ||
        !bsearch(&correlation, w->calls, w->n_calls, sizeof correlation, by_number))
        return false;
    w->last_flow = correlation;
    return true;
}

/* Begins the slice of what a GPU did and returns its thread. */
static int put_on_stream(Writer *w, const TraceEvent *e)
{
    static const char *const categories[] = {[TRACE_KERNEL] = "kernel",
                                             [TRACE_MEMCPY] = "gpu_memcpy",
                                             [TRACE_MEMSET] = "gpu_memset",
                                             [TRACE_PROJECTED] = "gpu_user_annotation"};
    const int device = e->gpu.device;
    const int tid = trace_tracks_place(&w->tracks, device, stream_of(e), e->begin, e->end);
    put_slice(w, categories[e->kind], e->name, device, tid, e->begin, e->end);
    return tid;
}

static void put_gpu(Writer *w, const TraceEvent *e)
{
    Text *t = &w->out.text;
    const TraceGpu *g = &e->gpu;
    const int stream = stream_of(e), tid = put_on_stream(w, e);
    put_node(w, e->node);
    text_printf(t, "%s\"device\": %d, \"context\": %d, \"stream\": %d, \"correlation\": %u",
                e->node < 0 ? "" : ", ", g->device, g->context, stream, e->correlation);
    if (e->kind == TRACE_KERNEL) {
        text_printf(t,
                    ", \"registers per thread\": %d, \"shared memory\": %lld, "
                    "\"grid\": [%d, %d, %d], \"block\": [%d, %d, %d]",
                    g->registers, (long long)(g->static_shared + g->dynamic_shared), g->grid[0],
                    g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2]);
    } else {
        text_printf(t, ", \"bytes\": %lld", (long long)g->bytes);
    }
    if (g->graph_node)
        text_printf(t, ", \"graph node id\": %llu", (unsigned long long)g->graph_node);
    text_puts(t, "}}");
    if (takes_flow(w, e->correlation)) put_flow(w, "f", g->device, tid, e->begin, e->correlation);
}

/* ---- order ---- */

/* Parents before their children where both begin at once. */
static int by_begin(const void *a, const void *b)
{
    const TraceEvent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->depth - y->depth;
}

static Status put_events(Writer *w, const TraceEvent *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const TraceEvent *e = &events[i];
        switch (e->kind) {
        case TRACE_STEP:
            put_step(w, e->step, e->begin, e->end);
            break;
        case TRACE_PHASE:
        case TRACE_RANGE:
            put_annotation(w, e->name, e->begin, e->end);
            break;
        case TRACE_NODE:
            put_memory(w, e);
            put_op(w, e);
            break;
        case TRACE_API:
            put_call(w, e);
            break;
        case TRACE_WAIT:
            put_wait(w, e);
            break;
        case TRACE_COLLECTIVE:
            put_collective(w, e);
            break;
        case TRACE_KERNEL:
        case TRACE_MEMCPY:
        case TRACE_MEMSET:
            if (e->gpu.graph_node && e->node >= 0) put_memory(w, e);
            put_gpu(w, e);
            break;
        case TRACE_PROJECTED:
            put_on_stream(w, e);
            text_puts(&w->out.text, "}}");
            break;
        case TRACE_OVERHEAD:
            break;
        }
        TRY(gzip_file_flush(&w->out));
    }
    return ST_OK;
}

/* ---- names of processes and threads ---- */

static void put_names(Writer *w)
{
    Text *t = &w->out.text;
    const TraceProcess process = trace_ranks_process(w->comm);
    char name[64];
    trace_text_named(t, "process_name", w->pid, 0, "name", process.s);
    trace_text_named(t, "process_labels", w->pid, 0, "labels", "CPU");
    trace_text_named(t, "thread_name", w->pid, w->pid, "name", "steps");
    for (int i = 0; i < w->tracks.n; i++) {
        const TraceTrack *track = &w->tracks.list[i];
        const bool calls = track->tid == w->pid + CALL_TRACK;
        snprintf(name, sizeof name, calls ? "CUDA calls" : "communication");
        if (track->pid != w->pid) {
            snprintf(name, sizeof name, "GPU %d", track->pid);
            trace_text_named(t, "process_name", track->pid, 0, "name", process.s);
            trace_text_named(t, "process_labels", track->pid, 0, "labels", name);
            snprintf(name, sizeof name, "stream %d", track->tid);
        }
        if (track->lane)
            snprintf(name + strlen(name), sizeof name - strlen(name), " (overlap %d)", track->lane);
        trace_text_named(t, "thread_name", track->pid, trace_tracks_tid(track), "name", name);
    }
}

static void put_head(Writer *w)
{
    Text *t = &w->out.text;
    const Placement *place_of = w->cell->placement;
    text_puts(t, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    if (place_of->backend != BACKEND_cpu) {
        text_printf(t, "{\"id\": %d, \"name\": \"%s\", \"computeMajor\": %d, \"computeMinor\": %d}",
                    place_of->device, place_of->name, place_of->capability / 10,
                    place_of->capability % 10);
    }
    text_puts(t, "],\n");
    trace_ranks_info(t, w->comm);
    text_puts(t, "  \"displayTimeUnit\": \"ms\",\n");
    text_printf(t, "  \"baseTimeNanoseconds\": %lld,\n  \"traceEvents\": [\n",
                (long long)clock_epoch_of(w->base));
    text_printf(t,
                "{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %d, \"tid\": 0, "
                "\"ts\": 0, \"args\": {\"sort_index\": %d}}",
                w->pid, w->comm ? comm_rank(w->comm) : 0);
}

/* HTA drops the last step, so an empty one follows the real ones. */
static void put_closing_step(Writer *w, const TraceEvent *events, size_t n)
{
    int64_t end = w->base;
    int step = -1;
    for (size_t i = 0; i < n; i++) {
        if (events[i].end > end) end = events[i].end;
        if (events[i].step > step) step = events[i].step;
    }
    if (n > 0) put_step(w, step + 1, end + 1000, end + 2000);
}

static Status write_all(Writer *w, const char *path, const TraceEvent *events, size_t n)
{
    CLEANUP(array_free) uint32_t *calls = w->calls = malloc((n + 1) * sizeof *calls);
    if (!calls) return NO_MEMORY("for %zu events", n);
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind == TRACE_API && events[i].correlation)
            calls[w->n_calls++] = events[i].correlation;
    }
    qsort(calls, w->n_calls, sizeof *calls, by_number);
    put_head(w);
    TRY(put_events(w, events, n));
    put_closing_step(w, events, n);
    put_names(w);
    text_puts(&w->out.text, "\n  ],\n  \"traceName\": ");
    const char *slash = strrchr(path, '/');
    trace_text_string(&w->out.text, slash ? slash + 1 : path);
    text_puts(&w->out.text, "\n}\n");
    return ST_OK;
}

Status kineto_trace_write(const char *path, const CellOpen *cell, const Profiler *p, bool source)
{
    Writer w = {
        .cell = cell, .p = p, .comm = cell->session->comm, .source = source, .pid = (int)getpid()};
    if (p->log.n) qsort(p->log.events, p->log.n, sizeof *p->log.events, by_begin);
    w.step = p->log.n ? p->log.events[0].step : 0;
    w.base = p->log.n ? p->log.events[0].begin : clock_nanoseconds();
    CLEANUP(memory_blocks_free) MemoryBlocks blocks = {0};
    TRY(memory_blocks_make(&blocks, &cell->fit->model, p->binding));
    memory_walk_begin(&w.memory, &blocks);
    TRY(gzip_file_open(&w.out, path));
    const Status status = write_all(&w, path, p->log.events, p->log.n);
    if (status == ST_OK) return gzip_file_finish(&w.out);
    gzip_file_abandon(&w.out);
    return status;
}
