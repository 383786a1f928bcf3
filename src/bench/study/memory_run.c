#include "bench/study/memory_run.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "bench/cell/cell.h"
#include "bench/measure/rss.h"
#include "prof/memory_observer.h"

enum { STEPS = 2 };

/* On a CPU, where pages come as they are touched. A GPU's memory is taken at once. */
static Status ask_held(void *self, size_t *bytes)
{
    (void)self;
    Rss rss;
    TRY(rss_read(&rss));
    *bytes = rss.now;
    return ST_OK;
}

static Status note_step(json_t *steps, const MemoryObserver *o)
{
    json_t *step = json_pack("{s:o, s:o}", "start_us", json_text_reals(o->start, o->n_nodes, 1e6),
                             "held_mib", json_text_reals(o->held, o->n_nodes, 0x1p-20));
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

static Status watch_steps(const CellOpen *cell, MemoryObserver *o, json_t *steps)
{
    const bool cpu = cell->placement->backend == BACKEND_cpu;
    TRY(memory_observer_make(o, cell->session->plan, cpu ? ask_held : NULL, NULL));
    TRY(session_observe(cell->session, memory_observer_hook(o)));
    for (int step = 0; step < STEPS; step++) {
        TRY(run_step(cell, step));
        TRY(note_step(steps, o));
    }
    return ST_OK;
}

static Status measure(void *self, const CellOpen *cell)
{
    (void)self;
    const int others = cell->session->n_observers;
    CLEANUP(memory_observer_free) MemoryObserver observer = {0};
    CLEANUP(json_text_free) json_t *steps = json_array();
    CLEANUP(json_text_free) json_t *facts = json_pack("{s:O}", "memory_trace", steps);
    Status status = facts ? watch_steps(cell, &observer, steps) : NO_MEMORY("for a memory trace");
    if (status == ST_OK) status = cell_link_facts(cell->link, facts);
    cell->session->n_observers = others; /* ours ends with this function */
    return status;
}

Status memory_run_cell(const Config *config, CellLink *link)
{
    return cell_run_with_hooks(config, link, &(CellHooks){.measure = measure});
}
