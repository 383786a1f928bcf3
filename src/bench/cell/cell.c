/* The whole data path, in order:
 *
 *   config -> where it runs -> plan and memory plan -> does it fit -> device memory -> initial values
 *   -> first step, warm-up, samples -> what the record is made of */
#include "bench/cell/cell.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/json_text.h"
#include "bench/cell/cell_ranks.h"
#include "bench/cell/rank_device.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/energy.h"
#include "bench/measure/gpu_watch.h"
#include "bench/measure/interference.h"
#include "bench/measure/sampler.h"
#include "exec/init.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

typedef struct Cell {
    CellOpen open;         /* the cell that is measured: it points into this struct */
    const Config *configs; /* all that share the process */
    int n;
    const CellHooks *hooks;
    Comm *comm;       /* the ranks that share the step; NULL: there is one */
    SampleList steps; /* of this rank */
    Placement placement;
    CellBaseline before;
    Fit fit;
    Session session;
    GpuWatch watch;
    EnergyCpu energy;          /* of the CPUs, where they compute */
    struct rusage first;       /* what the process had used before its first step */
    Interference interference; /* from the first sample on */
    bool begun;
    double plan_seconds;
    double capture_seconds;
    double comm_seconds, wait_seconds; /* of the samples' collectives (exec/session.h) */
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
    if (cell->open.config->exec != EXEC_GRAPH || cell->session.graphs.step) return ST_OK;
    TRY(cell->session.api->sync(cell->session.backend));
    cell->capture_seconds = -clock_seconds();
    const Status status = session_capture(&cell->session);
    cell->capture_seconds += clock_seconds();
    return status;
}

static Status tell_stage(void *self, const char *what, int64_t done, int64_t of)
{
    Cell *cell = self;
    if (done == 1 && strcmp(what, "step") == 0) {
        cell->session.comm_seconds = cell->session.wait_seconds = 0;
        gpu_watch_start(&cell->watch);
        energy_cpu_start(&cell->energy);
        cell->interference = interference_now();
    }
    if (cell->hooks->stage) TRY(cell->hooks->stage(cell->hooks->self, what, done));
    if (!cell->begun) getrusage(RUSAGE_SELF, &cell->first);
    cell->begun = true;
    return cell_link_stage(cell->open.link, what, done, of);
}

static double milliseconds(const struct timeval *t)
{
    return 1e3 * (double)t->tv_sec + 1e-3 * (double)t->tv_usec;
}

/* The first step, what the process used in it, and how much of it was the capture of graphs. Of the
 * first cell alone: the process of the others has run steps before. */
static Status tell_cold(void *self, double seconds)
{
    const Cell *cell = self;
    const struct rusage *before = &cell->first;
    struct rusage now;
    if (cell->open.config != cell->configs) return ST_OK;
    getrusage(RUSAGE_SELF, &now);
    const double kernel = milliseconds(&now.ru_stime) - milliseconds(&before->ru_stime);
    const int64_t faults = now.ru_minflt + now.ru_majflt - before->ru_minflt - before->ru_majflt;
    CLEANUP(json_text_free)
    Record *r = json_pack("{s:f, s:f, s:I}", "cold_step_ms", seconds * 1e3, "cold_system_ms",
                          fmax(kernel, 0), "cold_page_faults", (json_int_t)faults);
    if (cell->capture_seconds > 0)
        TRY(record_put_number(r, "capture_ms", cell->capture_seconds * 1e3));
    return cell_link_facts(cell->open.link, r);
}

/* On a GPU steps that waited after each phase have no time of their own. */
static Status count_step(Cell *cell, double seconds)
{
    if (isnan(seconds)) return ST_OK;
    TRY(session_count_communication(&cell->session));
    return sample_list_add(&cell->steps, seconds);
}

static Status tell_sample(void *self, const Sample *sample)
{
    Cell *cell = self;
    gpu_watch_step(&cell->watch);
    energy_cpu_step(&cell->energy);
    if (!cell->comm) return cell_link_sample(cell->open.link, sample);
    Sample slowest = *sample;
    TRY(count_step(cell, sample->seconds[SAMPLE_STEP]));
    TRY(cell_ranks_slowest(cell->comm, &slowest));
    return cell_link_sample(cell->open.link, &slowest);
}

/* What other virtual machines, and where the CPU computes other programs, had of it during the samples. */
static Status tell_interference(const Cell *cell)
{
    static const double least_seconds = 0.5; /* of CPU time: the kernel counts in hundredths */
    const InterferenceShares shares = interference_since(&cell->interference);
    if (shares.seconds < least_seconds) return ST_OK;
    CLEANUP(json_text_free) Record *r = json_pack("{s:f}", "stolen_percent", 100 * shares.steal);
    if (cell->placement.backend == BACKEND_cpu &&
        !cell->comm) /* other ranks are no other programs */
        TRY(record_put_number(r, "others_percent", 100 * shares.others));
    return cell_link_facts(cell->open.link, r);
}

static Status tell_energy(const Cell *cell)
{
    if (!cell->energy.counts) return ST_OK;
    CLEANUP(json_text_free) Record *facts = json_object();
    TRY(energy_cpu_put(&cell->energy, facts, config_tokens(cell->open.config)));
    return cell_link_facts(cell->open.link, facts);
}

static Status agree(void *self, bool *goes_on)
{
    const Cell *cell = self;
    return cell_ranks_agree(cell->comm, goes_on);
}

static Status measure(Cell *cell)
{
    const Config *config = cell->open.config;
    const Sampler sampler = {.self = cell,
                             .api = cell->session.api,
                             .backend = cell->session.backend,
                             .run = run_phase,
                             .step = run_step,
                             .stage = tell_stage,
                             .cold = tell_cold,
                             .sample = tell_sample,
                             .agree = cell->comm ? agree : NULL};
    cell->interference = interference_now();
    TRY(sampler_run(&sampler, cell->fit.mode, config));
    cell->comm_seconds = cell->session.comm_seconds;
    cell->wait_seconds = cell->session.wait_seconds;
    TRY(tell_energy(cell));
    TRY(gpu_watch_tell(&cell->watch, cell->open.link, config_tokens(config)));
    return tell_interference(cell);
}

/* ---- the path ---- */

static Status plan_it(Cell *cell)
{
    const CellOpen *open = &cell->open;
    cell->plan_seconds = -clock_seconds();
    TRY(rss_read(&cell->before.rss));
    if (strcmp(open->config->device, "cpu") != 0) gpu_memory_read(&cell->before.gpu);
    TRY(placement_find(open->config, &cell->placement));
    if (!cell->hooks->untimed) TRY(placement_check_timed(open->config, &cell->placement));
    if (cell->hooks->cpu_only && cell->comm && cell->placement.backend != BACKEND_cpu)
        return FAIL(ST_UNSUPPORTED, "%s --ranks runs on CPUs only as yet: use --device cpu",
                    cell->hooks->cpu_only);
    if (cell->comm) TRY(rank_device_join(cell->comm, &cell->placement));
    TRY(cell_link_stage(open->link, "plan", 0, 0));
    TRY(cell->comm ? cell_ranks_fit(cell->comm, &cell->fit, open->config, &cell->placement)
                   : fit_make_on(&cell->fit, open->config, &cell->placement, NULL));
    cell->plan_seconds += clock_seconds();
    return cell_facts_planned(open);
}

/* Takes the memory. What came before the first step: finding the device (which starts its libraries) and
 * planning; opening it, of which choosing algorithms. */
static Status start(Cell *cell)
{
    const double opening = clock_seconds();
    TRY(session_open(&cell->session, &cell->fit.binding, cell->placement.device));
    TRY(session_join(&cell->session, cell->comm));
    CLEANUP(json_text_free)
    Record *took = json_pack("{s:f, s:f, s:f}", "plan_ms", cell->plan_seconds * 1e3, "open_ms",
                             (clock_seconds() - opening) * 1e3, "prepare_ms",
                             cell->session.prepare_seconds * 1e3);
    TRY(cell_link_facts(cell->open.link, took));
    /* A GPU that ranks share works for all of them. */
    if (cell->placement.backend != BACKEND_cpu && cell->placement.sharing <= 1) {
        gpu_watch_open(&cell->watch, cell->placement.device);
    }
    /* The counters are of the whole machine: of ranks each would count all. */
    if (cell->placement.backend == BACKEND_cpu && !cell->comm) energy_cpu_open(&cell->energy, "");
    TRY(cell_link_stage(cell->open.link, "initial values", 0, 0));
    return init_session(&cell->session, &cell->fit.model);
}

/* Sets the message when even at the limits of this machine the fewest samples take longer than the
 * time-out. */
static void find_timeout(const Cell *cell, char *message, size_t size)
{
    const Config *config = cell->open.config;
    const TimeEstimate estimate =
        time_estimate_roofline(config, &cell->placement, NULL, &cell->fit.model.plan);
    const double least = time_estimate_minimum(&estimate, config);
    if (!(least > config->timeout)) return;
    snprintf(message, size,
             "not begun: a step takes at least %s and %.0f of them %s, longer than %s",
             human_seconds(estimate.roof_seconds).s, least / estimate.roof_seconds,
             human_seconds(least).s, config->budgeted ? "the rest of the budget" : "--timeout");
}

static Status run_open(Cell *cell)
{
    const CellHooks *hooks = cell->hooks;
    const CellOpen *open = &cell->open;
    const bool last = open->config == &cell->configs[cell->n - 1];
    if (hooks->opened) TRY(hooks->opened(hooks->self, open));
    TRY(hooks->measure ? hooks->measure(hooks->self, open) : measure(cell));
    if (hooks->measured) TRY(hooks->measured(hooks->self, open));
    TRY(cell_facts_trained(open));
    if (cell->steps.n > 0)
        TRY(cell_ranks_tell(cell->comm, open, &cell->steps, cell->comm_seconds,
                            cell->wait_seconds));
    return cell_facts_measured(open, &cell->before, last);
}

/* ok, or oom when the mode that was asked for does not fit. */
static Status tell_end(const Cell *cell)
{
    const Mode asked = cell->open.config->mode;
    char text[200];
    if (cell->fit.fits && cell->fit.mode == asked)
        return cell_link_end(cell->open.link, RECORD_OK, NULL);
    snprintf(text, sizeof text, "%s %s", config_modes[asked], fit_shortage(&cell->fit, asked).s);
    return cell_link_end(cell->open.link, RECORD_OOM, text);
}

/* The model is open and warm; what is planned is the same. */
static Status run_others(Cell *cell)
{
    for (int i = 1; i < cell->n; i++) {
        cell->open.config = &cell->configs[i];
        TRY(cell_link_next(cell->open.link, i));
        TRY(cell_facts_planned(&cell->open));
        if (cell->fit.fits) TRY(run_open(cell));
        TRY(tell_end(cell));
    }
    return ST_OK;
}

static Status run(Cell *cell)
{
    char timeout[256] = "";
    TRY(plan_it(cell));
    if (cell->fit.fits && !cell->hooks->measure) find_timeout(cell, timeout, sizeof timeout);
    if (timeout[0]) return cell_link_end(cell->open.link, RECORD_TIMEOUT, timeout);
    if (cell->fit.fits) {
        TRY(start(cell));
        TRY(run_open(cell));
    }
    TRY(tell_end(cell));
    return run_others(cell);
}

static Status run_and_close(const Config *configs, int n, CellLink *link, const CellHooks *hooks,
                            Comm *comm)
{
    Cell cell = {.configs = configs, .n = n, .hooks = hooks, .comm = comm};
    cell.open = (CellOpen){configs, link, &cell.placement, &cell.fit, &cell.session};
    const Status status = run(&cell);
    /* Of one that failed a collective may wait for the other ranks: the process ends with it. */
    if (status != ST_OK && comm) return status;
    gpu_watch_close(&cell.watch);
    session_drop_graphs(&cell.session);
    comm_gpu_leave(comm);
    session_close(&cell.session);
    fit_free(&cell.fit);
    sample_list_free(&cell.steps);
    return status;
}

Status cell_run(const Config *config, CellLink *link)
{
    return cell_run_shared(config, 1, link);
}

Status cell_run_with_hooks(const Config *config, CellLink *link, const CellHooks *hooks)
{
    return run_and_close(config, 1, link, hooks, NULL);
}

Status cell_run_shared(const Config *configs, int n, CellLink *link)
{
    return run_and_close(configs, n, link, &(CellHooks){0}, NULL);
}

Status cell_run_as_rank(const Settings *settings, const Config *config, CellLink *link)
{
    (void)settings;
    return cell_run_as_rank_with_hooks(config, link, &(CellHooks){0});
}

Status cell_run_as_rank_with_hooks(const Config *config, CellLink *link, const CellHooks *hooks)
{
    Comm *comm = NULL;
    Config own;
    TRY(cell_link_stage(link, "start", 0, 0));
    TRY(comm_open(&comm));
    TRY(cell_ranks_config(comm, config, &own));
    TRY(rank_device_find(comm, &own));
    TRY(run_and_close(&own, 1, link, hooks, comm)); /* MPI would wait for the others */
    comm_close(comm);
    return ST_OK;
}

bool cell_shares(const Config *a, const Config *b)
{
    Config same = *b;
    char key[RECORD_KEY_SIZE], other[RECORD_KEY_SIZE];
    same.warmup = a->warmup;
    same.steps = a->steps;
    record_key_of_config(a, key);
    record_key_of_config(&same, other);
    return a->ranks <= 1 && a->warmup > 0 && b->warmup > 0 && strcmp(key, other) == 0;
}
