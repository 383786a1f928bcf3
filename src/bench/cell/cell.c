/* The whole data path, in order:
 *
 *   config -> where it runs -> plan and memory plan -> does it fit -> device memory -> initial values
 *   -> first step, warm-up, samples -> what the record is made of */
#include "bench/cell/cell.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "base/human.h"
#include "bench/cell/cell_facts.h"
#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/gpu_watch.h"
#include "bench/measure/sampler.h"
#include "exec/init.h"
#include "exec/session.h"

#include <stdio.h>
#include <string.h>

typedef struct Cell {
    const Config *configs; /* that share the process, */
    int n;
    const Config *config; /* and the one that is measured */
    CellLink *link;
    const CellHooks *hooks;
    Placement placement;
    CellBaseline before;
    Fit fit;
    Session session;
    GpuWatch watch;
    struct rusage first;       /* what the process had used before its first step */
    Interference interference; /* from the first sample on */
    bool begun;
    double plan_seconds;
    double capture_seconds;
} Cell;

/* ---- samples ---- */

static Status run_phase(void *self, Phase phase)
{
    Cell *cell = self;
    return session_run(&cell->session, phase);
}

/* The first step runs node by node; after it, everything has been loaded and can be captured. */
static Status run_step(void *self)
{
    Cell *cell = self;
    TRY(session_run_step(&cell->session));
    if (cell->config->exec != EXEC_GRAPH || cell->session.step_graph) return ST_OK;
    TRY(cell->session.api->sync(cell->session.backend));
    cell->capture_seconds = -clock_seconds();
    const Status status = session_capture(&cell->session);
    cell->capture_seconds += clock_seconds();
    return status;
}

static Status mark(void *self, int slot)
{
    Cell *cell = self;
    return cell->session.api->mark(cell->session.backend, slot);
}

static Status elapsed(void *self, double *seconds)
{
    Cell *cell = self;
    return cell->session.api->elapsed(cell->session.backend, 0, 1, seconds);
}

static Status wait_for_device(void *self)
{
    Cell *cell = self;
    return cell->session.api->sync(cell->session.backend);
}

static Status tell_stage(void *self, const char *what, int64_t done, int64_t of)
{
    Cell *cell = self;
    if (done == 1 && strcmp(what, "step") == 0) {
        gpu_watch_start(&cell->watch);
        cell->interference = interference_now();
    }
    if (cell->hooks->stage) TRY(cell->hooks->stage(cell->hooks->self, what, done));
    if (!cell->begun) getrusage(RUSAGE_SELF, &cell->first);
    cell->begun = true;
    return cell_link_stage(cell->link, what, done, of);
}

/* Of the first cell alone: the process of the others has run steps before. */
static Status tell_cold(void *self, double seconds)
{
    const Cell *cell = self;
    if (cell->config != cell->configs) return ST_OK;
    return cell_facts_first_step(cell->link, seconds, &cell->first, cell->capture_seconds);
}

static Status tell_sample(void *self, const Sample *sample)
{
    Cell *cell = self;
    gpu_watch_step(&cell->watch);
    return cell_link_sample(cell->link, sample);
}

static Status measure(Cell *cell)
{
    const bool queued = cell->session.api->mark != NULL;
    const SamplerDevice device = {.self = cell,
                                  .run = run_phase,
                                  .step = run_step,
                                  .sync = wait_for_device,
                                  .mark = queued ? mark : NULL,
                                  .elapsed = elapsed,
                                  .queued = queued};
    const SamplerSink sink = {cell, tell_stage, tell_cold, tell_sample};
    const SamplerOptions options = {.warmup = cell->config->warmup,
                                    .steps = cell->config->steps,
                                    .seconds = config_sample_seconds(cell->config),
                                    .until = cell->config->until,
                                    .stat = cell->config->stat,
                                    .from_first = cell->config->from_first,
                                    .by_phase = cell->config->by_phase};
    cell->interference = interference_now();
    TRY(sampler_run(&device, cell->fit.mode, &options, &sink));
    const double tokens = (double)cell->config->batch * (double)cell->config->ctx;
    TRY(gpu_watch_tell(&cell->watch, cell->link, tokens));
    return cell_facts_interference(cell->link, &cell->placement, &cell->interference);
}

/* ---- the path ---- */

static Status plan_it(Cell *cell)
{
    cell->plan_seconds = -clock_seconds();
    TRY(rss_read(&cell->before.rss));
    if (strcmp(cell->config->device, "cpu") != 0) gpu_memory_read(&cell->before.gpu);
    TRY(placement_find(cell->config, &cell->placement));
    TRY(cell_link_stage(cell->link, "plan", 0, 0));
    TRY(fit_make_on(&cell->fit, cell->config, &cell->placement, NULL));
    cell->plan_seconds += clock_seconds();
    return cell_facts_planned(cell->link, cell->config, &cell->placement, &cell->fit);
}

static Status start(Cell *cell)
{
    CellStart took = {.plan = cell->plan_seconds, .open = -clock_seconds()};
    TRY(session_open(&cell->session, &cell->fit.binding, cell->placement.device));
    took.open += clock_seconds();
    took.prepare = cell->session.prepare_seconds;
    TRY(cell_facts_started(cell->link, &took));
    if (cell->placement.backend != BACKEND_cpu) {
        gpu_watch_open(&cell->watch, cell->placement.device);
    }
    TRY(cell_link_stage(cell->link, "initial values", 0, 0));
    return init_session(&cell->session, cell->fit.model);
}

/* Sets the message when even at the limits of this machine the fewest samples take longer than the
 * time-out. */
static Status find_timeout(const Cell *cell, char *message, size_t size)
{
    const TimeEstimate estimate =
        time_estimate_roofline(cell->config, &cell->placement, NULL, &cell->fit.model->plan);
    const double least = time_estimate_minimum(&estimate, cell->config);
    message[0] = '\0';
    if (!(least > cell->config->timeout)) return ST_OK;
    snprintf(
        message, size, "not begun: a step takes at least %s and %.0f of them %s, longer than %s",
        human_seconds(estimate.roof_seconds).s, least / estimate.roof_seconds,
        human_seconds(least).s, cell->config->budgeted ? "the rest of the budget" : "--timeout");
    return ST_OK;
}

static CellOpen opened(Cell *cell)
{
    return (CellOpen){cell->config, cell->link, &cell->placement, &cell->fit, &cell->session};
}

static Status run_open(Cell *cell)
{
    const CellHooks *hooks = cell->hooks;
    const CellOpen open = opened(cell);
    const bool last = cell->config == &cell->configs[cell->n - 1];
    if (hooks->opened) TRY(hooks->opened(hooks->self, &open));
    TRY(hooks->measure ? hooks->measure(hooks->self, &open) : measure(cell));
    if (hooks->measured) TRY(hooks->measured(hooks->self, &open));
    return cell_facts_measured(cell->link, &cell->session, &cell->placement, &cell->fit,
                               &cell->before, last);
}

/* The model is open and warm; what is planned is the same. */
static Status run_others(Cell *cell)
{
    for (int i = 1; i < cell->n; i++) {
        cell->config = &cell->configs[i];
        TRY(cell_link_next(cell->link, i));
        TRY(cell_facts_planned(cell->link, cell->config, &cell->placement, &cell->fit));
        if (cell->fit.fits) TRY(run_open(cell));
        TRY(cell_facts_end(cell->link, cell->config->mode, &cell->fit));
    }
    return ST_OK;
}

static Status run(Cell *cell)
{
    char timeout[256] = "";
    TRY(plan_it(cell));
    if (cell->fit.fits && !cell->hooks->measure) TRY(find_timeout(cell, timeout, sizeof timeout));
    if (timeout[0]) return cell_link_end(cell->link, RECORD_TIMEOUT, timeout);
    if (cell->fit.fits) {
        TRY(start(cell));
        TRY(run_open(cell));
    }
    TRY(cell_facts_end(cell->link, cell->config->mode, &cell->fit));
    return run_others(cell);
}

static Status run_and_close(Cell *cell)
{
    const Status status = run(cell);
    gpu_watch_close(&cell->watch);
    session_close(&cell->session);
    fit_free(&cell->fit);
    return status;
}

Status cell_run(const Config *config, CellLink *link)
{
    return cell_run_with_hooks(config, link, &(CellHooks){0});
}

Status cell_run_with_hooks(const Config *config, CellLink *link, const CellHooks *hooks)
{
    Cell cell = {.configs = config, .n = 1, .config = config, .link = link, .hooks = hooks};
    return run_and_close(&cell);
}

bool cell_shares(const Config *a, const Config *b)
{
    Config same = *b;
    char key[RECORD_KEY_SIZE], other[RECORD_KEY_SIZE];
    same.warmup = a->warmup;
    same.steps = a->steps;
    record_key_of_config(a, key);
    record_key_of_config(&same, other);
    return a->warmup > 0 && b->warmup > 0 && strcmp(key, other) == 0;
}

Status cell_run_shared(const Config *configs, int n, CellLink *link)
{
    Cell cell = {
        .configs = configs, .n = n, .config = configs, .link = link, .hooks = &(CellHooks){0}};
    return run_and_close(&cell);
}
