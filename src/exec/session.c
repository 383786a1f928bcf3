#include "exec/session.h"

#include "backend/thread_team.h"
#include "base/clock.h"
#include "comm/comm.h"

#include <limits.h>
#include <stdlib.h>

static void place_tensors(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    for (int i = 0; i < s->plan->n_tensors; i++) {
        const Tensor *t = &s->plan->tensors[i];
        const int owner = plan_storage(s->plan, i);
        const size_t at = mem->offset[owner];
        char *from = plan_kind_persistent(t->kind)    ? (char *)s->region[t->kind] + at
                     : s->common && at >= mem->common ? (char *)s->common + (at - mem->common)
                                                      : (char *)s->arena + at;
        s->memory[i] = from + t->offset * (int64_t)plan_dtype_size(t->dtype);
    }
}

static Status take_memory(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) {
        if (mem->region[k]) TRY(s->api->alloc(s->backend, mem->region[k], &s->region[k]));
    }
    if (mem->arena) TRY(s->api->alloc(s->backend, mem->arena, &s->arena));
    s->memory = calloc((size_t)s->plan->n_tensors + 1, sizeof *s->memory);
    if (!s->memory) return NO_MEMORY("for a table of tensors");
    place_tensors(s);
    return ST_OK;
}

/* While the queue is busy its thread has a core, too: the others, of which each has an equal part, would all
 * wait for the one that shares it. (A rank that others wait for never waits with an idle core: what it puts
 * into the queue is what they lack.) */
static int threads_now(const Session *s)
{
    return s->binding->threads - (s->lends && comm_queue_busy(s->queue));
}

static OpCall node_call(const Session *s, int node)
{
    return (OpCall){.backend = s->backend,
                    .plan = s->plan,
                    .node = &s->plan->nodes[node],
                    .memory = s->memory,
                    .workspace =
                        s->arena ? (char *)s->arena + s->binding->mem.workspace[node] : NULL,
                    .threads = threads_now(s),
                    .state = &s->state[node],
                    .comm = s->comm};
}

static Status prepare_nodes(Session *s)
{
    s->state = calloc((size_t)s->plan->n_nodes + 1, sizeof *s->state);
    if (!s->state) return NO_MEMORY("for a table of nodes");
    for (int i = 0; i < s->plan->n_nodes; i++) {
        const OpCall call = node_call(s, i);
        if (!s->binding->impls[i].prepare) continue;
        const Status st = s->binding->impls[i].prepare(&call);
        if (st == ST_OK) continue;
        status_context("%s", s->plan->nodes[i].scope);
        return st;
    }
    return ST_OK;
}

static void forget_nodes(Session *s)
{
    for (int i = 0; s->state && i < s->plan->n_nodes; i++) {
        if (s->state[i] && s->binding->impls[i].forget) s->binding->impls[i].forget(s->state[i]);
    }
    free(s->state);
}

Status session_open(Session *s, const Binding *binding, int device)
{
    *s = (Session){.plan = binding->plan,
                   .binding = binding,
                   .api = backend_api(binding->backend),
                   .micro_batch = -1};
    if (binding->backend == BACKEND_cpu) TRY(thread_team_start(binding->threads));
    Status st = s->api->open(&s->backend, device);
    if (st == ST_OK) st = take_memory(s);
    s->prepare_seconds = -clock_seconds();
    if (st == ST_OK) st = prepare_nodes(s);
    s->prepare_seconds += clock_seconds();
    if (st != ST_OK) session_close(s);
    return st;
}

static void drop_set(const Session *s, GraphSet *set)
{
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (set->phase[p]) s->api->drop(s->backend, set->phase[p]);
    }
    if (set->step) s->api->drop(s->backend, set->step);
    *set = (GraphSet){0};
}

void session_drop_graphs(Session *s)
{
    drop_set(s, &s->graphs);
    drop_set(s, &s->earlier);
    drop_set(s, &s->quiet);
}

size_t session_own_arena(const Session *s)
{
    return s->common ? s->binding->mem.common : s->binding->mem.arena;
}

void session_release(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) {
        if (s->region[k]) s->api->release(s->backend, s->region[k], mem->region[k]);
        s->region[k] = NULL;
    }
    if (s->arena) s->api->release(s->backend, s->arena, session_own_arena(s));
    s->arena = s->common = NULL;
}

void session_close(Session *s)
{
    if (!s->api) return;
    comm_queue_close(s->queue);
    session_drop_graphs(s);
    comm_stream_close(&s->stream);
    forget_nodes(s);
    session_release(s);
    if (s->backend) s->api->close(s->backend);
    free(s->memory);
    *s = (Session){0};
}

Status session_observe(Session *s, Observer observer)
{
    if (s->n_observers == SESSION_MAX_OBSERVERS) return FAIL(ST_FAILED, "too many observers");
    s->observers[s->n_observers++] = observer;
    return ST_OK;
}

static bool is_communication(const Session *s, int node)
{
    return plan_op_category(s->plan->nodes[node].op) == CATEGORY_communication;
}

static bool is_last_micro_batch(const Session *s)
{
    return s->micro_batch + 1 == plan_phase_runs(s->plan, PHASE_FORWARD);
}

/* Gradients of several micro-batches travel once, when their sums are whole. Known here, and not in the
 * queue's thread: the next micro-batch may have begun by then. */
static bool is_left_out(const Session *s, int node)
{
    const Node *n = &s->plan->nodes[node];
    if (!is_communication(s, node)) return false;
    return s->alone || (n->op != OP_all_gather && !is_last_micro_batch(s));
}

/* Where work is queued the clock says nothing: session_count_communication(). */
static Status communicate(Session *s, const OpImpl *impl, const OpCall *call)
{
    if (s->api->mark) return op_run(impl, call);
    s->comm_seconds -= clock_seconds();
    const Status status = op_run(impl, call);
    s->comm_seconds += clock_seconds();
    return status;
}

static Status run_beside(void *self, int node)
{
    Session *s = self;
    const OpCall call = node_call(s, node);
    comm_meet(s->comm);
    const int64_t begin = clock_nanoseconds();
    const Status status = communicate(s, &s->binding->impls[node], &call);
    if (s->watch.ran) s->watch.ran(s->watch.self, node, begin, clock_nanoseconds());
    return status;
}

/* Observers see one node at a time: for them nothing runs beside another, unless someone watches that. On a
 * GPU all collectives go through one stream, and those of the first queue are waited for at once. */
static bool runs_beside(const Session *s, int node)
{
    if (s->n_observers > 0 && !s->watch.ran) return false;
    if (s->stream.n > 0) return is_communication(s, node);
    return s->queue && s->plan->nodes[node].queue == QUEUE_COMMUNICATION;
}

static Status put_beside(Session *s, int node)
{
    const OpCall call = node_call(s, node);
    if (s->queue) {
        comm_queue_put(s->queue, node);
        return ST_OK;
    }
    TRY(comm_stream_begin(&s->stream, node));
    TRY(op_run(&s->binding->impls[node], &call));
    TRY(comm_stream_end(&s->stream, node));
    return s->plan->nodes[node].queue == QUEUE_COMPUTE ? comm_stream_wait(&s->stream, node) : ST_OK;
}

/* `node` waits for the other queue to be through with all up to `last`; INT_MAX: all. */
static Status wait_for_queue(Session *s, int node, int last)
{
    if (s->stream.n > 0) return comm_stream_wait(&s->stream, last);
    if (!s->queue) return ST_OK;
    const int64_t begin = clock_nanoseconds();
    const Status status = comm_queue_wait(s->queue, last);
    s->wait_seconds += 1e-9 * (double)(clock_nanoseconds() - begin);
    if (s->watch.waited) s->watch.waited(s->watch.self, node, begin, clock_nanoseconds());
    return status;
}

Status session_wait(Session *s)
{
    return wait_for_queue(s, PLAN_NONE, INT_MAX);
}

/* Nodes that nobody reads in this step end with it, and those of the setup before it. */
static Status drain(Session *s, Phase phase)
{
    const Phase last = s->plan->nodes[s->plan->n_nodes - 1].phase;
    return phase == last || phase == PHASE_SETUP ? session_wait(s) : ST_OK;
}

static Status run_node(Session *s, int node)
{
    const Binding *binding = s->binding;
    if (is_left_out(s, node)) return ST_OK;
    if (runs_beside(s, node)) return put_beside(s, node);
    if (binding->waits[node] != PLAN_NONE) TRY(wait_for_queue(s, node, binding->waits[node]));
    const OpImpl *impl = &binding->impls[node];
    const ObserverEvent event = {s->plan, node, s->api, s->backend, s->memory, impl->name};
    const OpCall call = node_call(s, node);
    for (int o = 0; o < s->n_observers; o++) {
        if (s->observers[o].begin) TRY(s->observers[o].begin(s->observers[o].self, &event));
    }
    TRY(is_communication(s, node) ? communicate(s, impl, &call) : op_run(impl, &call));
    for (int o = s->n_observers; o-- > 0;) {
        if (s->observers[o].end) TRY(s->observers[o].end(s->observers[o].self, &event));
    }
    return ST_OK;
}

/* What ranks send each other moves to memory that all of them see, if there is any to be had. Nothing has
 * been written as yet. */
static Status share_memory(Session *s)
{
    const MemPlan *mem = &s->binding->mem;
    if (mem->common == mem->arena) return ST_OK;
    s->common = comm_share(s->comm, mem->arena - mem->common);
    if (!s->common) return ST_OK;
    s->api->release(s->backend, s->arena, mem->arena);
    s->arena = NULL;
    if (mem->common) TRY(s->api->alloc(s->backend, mem->common, &s->arena));
    place_tensors(s);
    return ST_OK;
}

Status session_join(Session *s, struct Comm *comm)
{
    int beside = 0;
    for (int i = 0; i < s->plan->n_nodes; i++)
        beside += s->plan->nodes[i].queue == QUEUE_COMMUNICATION;
    s->comm = comm;
    if (!comm) return ST_OK;
    if (s->api->beside_open) return comm_stream_open(&s->stream, s->api, s->backend, s->plan);
    TRY(share_memory(s));
    if (beside == 0) return ST_OK;
    const int threads = s->binding->threads;
    TRY(comm_queue_open(&s->queue, run_beside, s, beside, threads));
    s->lends = threads > 1 && comm_processors(comm) <= threads;
    return ST_OK;
}

Status session_count_communication(Session *s)
{
    return comm_stream_add_seconds(&s->stream, &s->comm_seconds);
}

Status session_run_nodes(Session *s, Phase phase)
{
    int begin = 0, end = 0;
    plan_phase_nodes(s->plan, phase, &begin, &end);
    for (int i = begin; i < end; i++) {
        const Status st = run_node(s, i);
        if (st == ST_OK) continue;
        status_context("%s, %s", plan_phase_name(phase), s->plan->nodes[i].scope);
        return st;
    }
    return ST_OK;
}

static void next_micro_batch(Session *s)
{
    s->micro_batch = (s->micro_batch + 1) % plan_phase_runs(s->plan, PHASE_FORWARD);
}

/* The graphs of the micro-batch that runs. */
static const GraphSet *graphs_now(const Session *s)
{
    if (s->alone) return &s->quiet;
    return is_last_micro_batch(s) ? &s->graphs : &s->earlier;
}

static Status run_phase(Session *s, Phase phase)
{
    if (phase == PHASE_FORWARD) next_micro_batch(s);
    void *graph = graphs_now(s)->phase[phase];
    if (!graph) graph = s->graphs.phase[phase];
    if (graph) return s->api->launch(s->backend, graph);
    TRY(session_run_nodes(s, phase));
    return drain(s, phase);
}

Status session_run(Session *s, Phase phase)
{
    TRY(run_phase(s, phase));
    return s->stream.n > 0 ? session_wait(s) : ST_OK;
}

/* Forward and backward of one micro-batch; in a graph of the whole step the optimizer, too. */
static Status run_passes(Session *s)
{
    if (s->graphs.step) {
        next_micro_batch(s);
        const GraphSet *now = graphs_now(s);
        return s->api->launch(s->backend, now->step ? now->step : s->graphs.step);
    }
    TRY(run_phase(s, PHASE_FORWARD));
    return run_phase(s, PHASE_BACKWARD);
}

Status session_run_step(Session *s)
{
    const int64_t micro_batches = plan_phase_runs(s->plan, PHASE_FORWARD);
    for (int64_t i = 0; i < micro_batches; i++) TRY(run_passes(s));
    if (s->graphs.step && micro_batches == 1) return ST_OK; /* the optimizer was part of it */
    return run_phase(s, PHASE_OPTIMIZER);
}

/* Bytes of a row, from one to the next, and how many: one where rows follow each other. */
typedef struct Rows {
    size_t bytes, step;
    int64_t n;
} Rows;

static Rows rows_of(const Tensor *t)
{
    if (plan_contiguous(t)) return (Rows){plan_bytes(t), 0, 1};
    const size_t size = plan_dtype_size(t->dtype);
    return (Rows){(size_t)plan_width(t) * size, (size_t)t->ld * size, plan_rows(t)};
}

Status session_upload(Session *s, int tensor, const void *src)
{
    const Rows rows = rows_of(&s->plan->tensors[tensor]);
    char *to = s->memory[tensor];
    const char *from = src;
    for (int64_t i = 0; i < rows.n; i++, to += rows.step, from += rows.bytes)
        TRY(s->api->upload(s->backend, to, from, rows.bytes));
    return ST_OK;
}

Status session_download(Session *s, int tensor, void *dst)
{
    const Rows rows = rows_of(&s->plan->tensors[tensor]);
    const char *from = s->memory[tensor];
    char *to = dst;
    for (int64_t i = 0; i < rows.n; i++, to += rows.bytes, from += rows.step)
        TRY(s->api->download(s->backend, to, from, rows.bytes));
    return ST_OK;
}
