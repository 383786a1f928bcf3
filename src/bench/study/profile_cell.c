#include "bench/study/profile_cell.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/sampler.h"
#include "bench/study/profile_ranks.h"
#include "bench/study/profile_record.h"
#include "prof/activity_cupti.h"
#include "prof/ranges_nvtx.h"

enum { SETTLING = 2 }; /* steps that are watched and not counted: tracers set themselves up too */

typedef struct Run {
    const CellOpen *cell;
    const ProfileTask *task;
    Profiler profiler;
    RangesNvtx *ranges; /* NULL: not asked for */
    bool traced;        /* the device tells what it does */
} Run;

/* ---- steps ---- */

/* Collecting what the device did makes the next launch a slow one. Steps that are a few launches go
 * together; where each node is launched by itself, its times are needed at once. */
static int batch_of(const Config *config)
{
    return config->exec == EXEC_GRAPH ? PROFILER_BATCH : 1;
}

/* Takes what the device has done since the last call. */
static Status take_steps(Run *run)
{
    TraceEvent *events = NULL;
    size_t n = 0, dropped = 0;
    if (run->traced) TRY(activity_cupti_collect(&events, &n, &dropped));
    run->profiler.dropped += dropped;
    return profiler_device_events(&run->profiler, events, n);
}

static Status take_batch(Run *run)
{
    return run->profiler.n_pending < batch_of(run->cell->config) ? ST_OK : take_steps(run);
}

static Status run_phase(Run *run, Phase phase, bool count)
{
    Session *session = run->cell->session;
    int begin = 0, end = 0;
    plan_phase_nodes(session->plan, phase, &begin, &end);
    if (begin == end) return ST_OK;
    if (count) profiler_phase_begin(&run->profiler);
    TRY(session_run(session, phase));
    TRY(session->api->sync(session->backend));
    return count ? profiler_phase_end(&run->profiler, phase) : ST_OK;
}

static Status run_phases(Run *run, bool count)
{
    const int64_t micro_batches = plan_phase_runs(run->cell->session->plan, PHASE_FORWARD);
    for (int64_t i = 1; i <= micro_batches; i++) {
        TRY(run_phase(run, PHASE_FORWARD, count));
        TRY(run_phase(run, PHASE_BACKWARD, count));
        if (!count || i == micro_batches) continue;
        profiler_micro_batch_end(&run->profiler);
        TRY(take_batch(run));
    }
    return run_phase(run, PHASE_OPTIMIZER, count);
}

/* Where a suite has little time and nobody traces, there is nothing to set up. */
static Status settle(Run *run)
{
    const bool hurried = run->cell->config->sample_share > 0 && !run->traced;
    for (int i = 0; i < SETTLING && !hurried; i++) TRY(run_phases(run, false));
    TRY(take_steps(run));
    run->profiler.dropped = 0; /* of the capture, which is no step */
    return ST_OK;
}

/* The share of a suite's time ends it early, as it ends samples. */
static bool is_over(const Config *config, int64_t done, double since)
{
    const double most = config->ranks > 1 ? 0 : config->sample_share; /* they end together */
    return done >= config->steps ||
           (most > 0 && done >= SAMPLER_MIN_SAMPLES && clock_seconds() - since >= most);
}

static Status run_steps(Run *run)
{
    const CellOpen *cell = run->cell;
    const int64_t steps = cell->config->steps;
    TRY(settle(run));
    const double start = clock_seconds();
    for (int64_t i = 0; !is_over(cell->config, i, start);) {
        TRY(cell_link_stage(cell->link, "profiled step", ++i, steps));
        profiler_step_begin(&run->profiler);
        TRY(run_phases(run, true));
        TRY(profiler_step_end(&run->profiler));
        TRY(take_batch(run));
    }
    TRY(take_steps(run));
    profiler_finish(&run->profiler);
    return ST_OK;
}

/* ---- what is found ---- */

static Status tell(Run *run)
{
    const CellOpen *cell = run->cell;
    CLEANUP(memory_blocks_free) MemoryBlocks blocks = {0};
    json_t *profile = NULL;
    TRY(memory_blocks_make(&blocks, &cell->fit->model, &cell->fit->binding));
    op_rows_memory(&run->profiler.rows, &blocks);
    const TimeEstimate estimate =
        time_estimate_roofline(cell->config, cell->placement, NULL, &cell->fit->model.plan);
    TRY(profile_record_make(&profile, &run->profiler, &estimate));
    CLEANUP(json_text_free) json_t *facts = json_pack("{s:o}", "profile", profile);
    if (cell->session->comm) TRY(profile_ranks_put(profile, &run->profiler, cell->session->comm));
    return cell_link_facts(cell->link, facts);
}

/* A GPU whose kernels nobody tells of is still profiled by the host's clock; the row says so. */
static Status start_tracer(Run *run)
{
    if (run->cell->placement->backend == BACKEND_cpu) return ST_OK;
    const Status status = activity_cupti_start(&run->profiler.log);
    run->traced = status == ST_OK;
    run->profiler.device = run->traced;
    run->profiler.waits = !run->traced;
    if (status != ST_UNSUPPORTED) return status;
    return cell_link_warning(run->cell->link,
                             "kernels are not traced (%s): ops are timed with a wait after each, "
                             "which --exec graph does not have",
                             status_message());
}

/* A graph is captured anew: only a tracer that saw its nodes made can tell them apart. */
static Status watch(Run *run)
{
    Session *session = run->cell->session;
    if (run->task->nvtx || run->task->annotate_mha) {
        TRY(ranges_nvtx_open(&run->ranges, session->binding, run->task->annotate_mha));
        TRY(session_observe(session, ranges_nvtx_observer(run->ranges)));
    }
    TRY(session_observe(session, profiler_observer(&run->profiler)));
    session->watch = profiler_comm_watch(&run->profiler);
    if (run->traced) TRY(session_observe(session, activity_cupti_observer()));
    if (run->cell->config->exec != EXEC_GRAPH) return ST_OK;
    session_drop_graphs(session);
    return session_capture(session);
}

static Status profile(Run *run)
{
    TRY(start_tracer(run));
    TRY(watch(run));
    if (run->ranges) ranges_nvtx_push("measure_loop");
    TRY(run_steps(run));
    if (run->ranges) ranges_nvtx_pop();
    TRY(tell(run));
    const ProfileTask *task = run->task;
    return task->write ? task->write(task->self, run->cell, &run->profiler) : ST_OK;
}

static Status measured(void *self, const CellOpen *cell)
{
    Run run = {.cell = cell, .task = self};
    TRY(profiler_open(&run.profiler, &cell->fit->binding, false, run.task->trace_steps));
    const int others = cell->session->n_observers;
    const Status status = profile(&run);
    cell->session->n_observers = others; /* ours end with this function */
    cell->session->watch = (CommWatch){0};
    if (run.traced) activity_cupti_stop();
    ranges_nvtx_close(run.ranges);
    profiler_close(&run.profiler);
    return status;
}

/* Until there is one: a row that ends before it is still a profile's, not one of bench. */
static Status tell_none(CellLink *link)
{
    CLEANUP(json_text_free) json_t *facts = json_pack("{s:n}", "profile");
    return cell_link_facts(link, facts);
}

Status profile_cell_run(const Config *config, CellLink *link, const ProfileTask *task)
{
    const CellHooks more = {.self = (void *)task, .measured = measured, .cpu_only = "profile"};
    TRY(tell_none(link));
    return config->ranks > 1 ? cell_run_as_rank_with_hooks(config, link, &more)
                             : cell_run_with_hooks(config, link, &more);
}
