#include "bench/study/memory_run.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "bench/cell/cell.h"
#include "bench/measure/rss.h"
#include "bench/study/memory_ranks.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 2 };

/* When each node began and how much memory the process held when it had run. With the lifetimes of the
 * plan (prof/memory_blocks.h) that dates every allocation and free. */
typedef struct Watch {
    int n_nodes;
    double *start; /* of each node: seconds since `began`; NAN: it did not run */
    double *held;  /* bytes; NAN: not known */
    double began;
    bool cpu; /* where pages come as they are touched; a GPU's memory is taken at once */
    MemoryRanksWatch *rank; /* NULL: there is one */
} Watch;

static Status watch_make(Watch *w, const CellOpen *cell)
{
    const int n = cell->session->plan->n_nodes;
    *w = (Watch){.n_nodes = n, .cpu = cell->placement->backend == BACKEND_cpu};
    w->start = malloc(((size_t)n + 1) * sizeof *w->start);
    w->held = malloc(((size_t)n + 1) * sizeof *w->held);
    if (!w->start || !w->held) return NO_MEMORY("to watch %d nodes", n);
    for (int i = 0; i < n; i++) w->start[i] = w->held[i] = NAN;
    w->began = clock_seconds();
    return ST_OK;
}

static void watch_free(Watch *w)
{
    free(w->start);
    free(w->held);
}

static Status node_begin(void *self, const ObserverEvent *event)
{
    Watch *w = self;
    w->start[event->node] = clock_seconds() - w->began;
    return w->rank ? memory_ranks_node(w->rank, event->node) : ST_OK;
}

static Status node_end(void *self, const ObserverEvent *event)
{
    Watch *w = self;
    Rss rss;
    if (!w->cpu) return ST_OK;
    TRY(rss_read(&rss));
    w->held[event->node] = (double)rss.now;
    return ST_OK;
}

static Status note_step(json_t *steps, const Watch *w)
{
    json_t *step = json_pack("{s:o, s:o}", "start_us", json_text_reals(w->start, w->n_nodes, 1e6),
                             "held_mib", json_text_reals(w->held, w->n_nodes, 0x1p-20));
    if (!step || json_array_append_new(steps, step)) return NO_MEMORY("for a memory trace");
    return ST_OK;
}

static Status run_step(const CellOpen *cell, int step)
{
    const double began = clock_seconds();
    TRY(cell_link_stage(cell->link, "step", step + 1, STEPS));
    TRY(session_run_step(cell->session));
    TRY(cell->session->api->sync(cell->session->backend));
    Sample sample = sample_empty();
    sample.seconds[SAMPLE_STEP] = clock_seconds() - began;
    return cell_link_sample(cell->link, &sample);
}

static Status watch_steps(const CellOpen *cell, Watch *w, json_t *steps)
{
    MemoryRanksWatch rank;
    TRY(watch_make(w, cell));
    if (cell->session->comm) TRY(memory_ranks_begin(w->rank = &rank, cell));
    TRY(session_observe(cell->session,
                        (Observer){.self = w, .begin = node_begin, .end = node_end}));
    for (int step = 0; step < STEPS; step++) {
        TRY(run_step(cell, step));
        if (w->rank) TRY(memory_ranks_stepped(w->rank));
        TRY(note_step(steps, w));
    }
    return w->rank ? memory_ranks_tell(w->rank) : ST_OK;
}

static Status measure(void *self, const CellOpen *cell)
{
    (void)self;
    const int others = cell->session->n_observers;
    CLEANUP(watch_free) Watch watch = {0};
    CLEANUP(json_text_free) json_t *steps = json_array();
    CLEANUP(json_text_free) json_t *facts = json_pack("{s:O}", "memory_trace", steps);
    Status status = facts ? watch_steps(cell, &watch, steps) : NO_MEMORY("for a memory trace");
    if (status == ST_OK) status = cell_link_facts(cell->link, facts);
    cell->session->n_observers = others; /* ours ends with this function */
    return status;
}

Status memory_run_cell(const Config *config, CellLink *link)
{
    return cell_run_with_hooks(config, link, &(CellHooks){.measure = measure});
}

Status memory_run_as_rank(const Settings *settings, const Config *config, CellLink *link)
{
    (void)settings;
    return cell_run_as_rank_with_hooks(config, link,
                                       &(CellHooks){.measure = measure, .cpu_only = "memory"});
}
