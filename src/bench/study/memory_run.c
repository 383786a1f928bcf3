#include "bench/study/memory_run.h"

#include "base/clock.h"
#include "bench/cell/cell_facts.h"
#include "exec/init.h"
#include "prof/memory_observer.h"

#include <math.h>
#include <string.h>

enum { STEPS = 2 };

typedef struct Run {
    const Config *config;
    CellLink *link;
    Placement placement;
    CellBaseline before;
    Fit fit;
    Session session;
} Run;

/* On a CPU, where pages come as they are touched. A GPU's memory is taken at once. */
static Status ask_held(void *self, size_t *bytes)
{
    (void)self;
    Rss rss;
    TRY(rss_read(&rss));
    *bytes = rss.now;
    return ST_OK;
}

static json_t *numbers(const double *values, int n, double unit)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++) {
        json_t *value = isnan(values[i]) ? json_null() : json_real(values[i] / unit);
        if (json_array_append_new(list, value) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static Status note_step(json_t *steps, const MemoryObserver *o)
{
    const double microsecond = 1e-6, mib = 0x1p20;
    json_t *step = json_pack("{s:o, s:o}", "start_us", numbers(o->start, o->n_nodes, microsecond),
                             "held_mib", numbers(o->held, o->n_nodes, mib));
    if (!step || json_array_append_new(steps, step)) return NO_MEMORY("for a memory trace");
    return ST_OK;
}

static Status run_step(Run *run, int step)
{
    const double began = clock_seconds();
    TRY(cell_link_stage(run->link, "step", step + 1, STEPS));
    TRY(session_run_step(&run->session));
    TRY(run->session.api->sync(run->session.backend));
    Sample sample = sample_empty();
    sample.seconds[SAMPLE_STEP] = clock_seconds() - began;
    return cell_link_sample(run->link, &sample);
}

static Status watch_steps(Run *run, MemoryObserver *o, json_t *steps)
{
    const bool cpu = run->placement.backend == BACKEND_cpu;
    TRY(memory_observer_make(o, run->session.plan, cpu ? ask_held : NULL, NULL));
    TRY(session_observe(&run->session, memory_observer_hook(o)));
    for (int step = 0; step < STEPS; step++) {
        TRY(run_step(run, step));
        TRY(note_step(steps, o));
    }
    return ST_OK;
}

static Status tell_trace(Run *run)
{
    MemoryObserver observer = {0};
    json_t *steps = json_array(), *facts = json_pack("{s:O}", "memory_trace", steps);
    Status status = facts ? watch_steps(run, &observer, steps) : NO_MEMORY("for a memory trace");
    if (status == ST_OK) status = cell_link_facts(run->link, facts);
    json_decref(steps);
    json_decref(facts);
    memory_observer_free(&observer);
    return status;
}

static Status start(Run *run)
{
    TRY(rss_read(&run->before.rss));
    if (strcmp(run->config->device, "cpu") != 0) gpu_memory_read(&run->before.gpu);
    TRY(placement_find(run->config, &run->placement));
    TRY(fit_make_on(&run->fit, run->config, &run->placement, NULL));
    TRY(cell_facts_planned(run->link, run->config, &run->placement, &run->fit));
    if (!run->fit.fits) return ST_OK;
    TRY(cell_link_stage(run->link, "initial values", 0, 0));
    TRY(session_open(&run->session, &run->fit.binding, run->placement.device));
    return init_session(&run->session, run->fit.model);
}

static Status go(Run *run)
{
    TRY(start(run));
    if (run->fit.fits) {
        TRY(tell_trace(run));
        TRY(cell_facts_measured(run->link, &run->session, &run->placement, &run->fit, &run->before,
                                true));
    }
    return cell_facts_end(run->link, run->config->mode, &run->fit);
}

Status memory_run_cell(const Config *config, CellLink *link)
{
    Run run = {.config = config, .link = link};
    const Status status = go(&run);
    session_close(&run.session);
    fit_free(&run.fit);
    return status;
}
