#include "cli/published/published_run.h"

#include "base/clock.h"
#include "bench/cell/cell.h"
#include "bench/cell/cell_group.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/interrupt.h"
#include "bench/record/record_file.h"
#include "bench/study/profile_cell.h"
#include "cli/output.h"
#include "cli/published/published_estimate.h"
#include "report/records/report_sink.h"

#include <math.h>
#include <unistd.h>

static const double usual_budget = 600; /* seconds, on a CPU */
static const double usual_share = 5;    /* seconds of samples a row, on a GPU */
static const double too_little = 0.2;   /* seconds: no cell has three samples in that */
/* Shares of the time left that are reserved for cheaper rows. */
static const double least_reserved = 0.1, most_reserved = 1.0 / 3;

/* ---- the clock ---- */

/* Seconds for estimating the rows that were not run and for writing the page. */
static double closing_time(double budget)
{
    return fmin(fmax(0.02 * budget, 0.1), 8);
}

PublishedTime published_run_time(const PublishedPlan *plan, bool gpu, double begun)
{
    const bool free = isnan(plan->budget) && gpu;
    const double budget = free ? INFINITY : isnan(plan->budget) ? usual_budget : plan->budget;
    if (isinf(budget)) return (PublishedTime){budget, INFINITY, free ? usual_share : 0};
    return (PublishedTime){budget, begun + budget - closing_time(budget), 0};
}

/* 0.3 is a fair share: warm-up may take half as long as the samples, profiled steps come on top, and the
 * rest is for the start and for a step that starts just in time. */
double published_run_share(const PublishedTime *time, double left, int rows)
{
    return isinf(left) ? time->share : fmax(0.3 * left / fmax(rows, 1), 1e-3);
}

static double share_of(const PublishedTime *time, const PublishedOrder *order, double left)
{
    int waiting = 0;
    for (int i = 0; i < order->n; i++) waiting += order->cells[i].state == CELL_ORDER_WAITING;
    return published_run_share(time, left, waiting);
}

/* ---- known records ---- */

const char *const published_run_files[2] = {"results.json", "profile.json"};

/* Was any phase measured? */
static bool has_figures(const Record *record)
{
    double x;
    return record_number(record, "step.mean_ms", &x) ||
           record_number(record, "forward.mean_ms", &x);
}

static CellOrderState state_of(const Record *record)
{
    const RecordStatus status = record_status(record);
    const bool ended = status == RECORD_OK || status == RECORD_OOM;
    return ended && has_figures(record) ? CELL_ORDER_MEASURED : CELL_ORDER_NO_RESULT;
}

Status published_run_read_known(const PublishedPlan *plan, PublishedRecords *known)
{
    char path[PATH_MAX];
    for (int p = 0; p < 2; p++) {
        TRY(output_path(plan->folder, published_run_files[p], path));
        if (access(path, F_OK) == 0) TRY(record_file_read(&known->of[p], path, NULL));
    }
    return ST_OK;
}

/* NULL: none, or one that was cut short. */
static const Record *finished(const PublishedOrder *order, int i, const PublishedRecords *records)
{
    const Record *record = published_list_record(records, &order->configs[i], order->profiled[i]);
    return record && cell_record_is_final(record) ? record : NULL;
}

void published_run_mark_known(PublishedOrder *order, const PublishedRecords *known)
{
    for (int i = 0; i < order->n; i++) {
        const Record *record = finished(order, i, known);
        if (record) order->cells[i].state = state_of(record);
    }
}

bool published_run_is_done(const PublishedOrder *order, const PublishedRecords *records)
{
    for (int i = 0; i < order->n; i++) {
        if (order->cells[i].state != CELL_ORDER_SKIPPED && !finished(order, i, records))
            return false;
    }
    return true;
}

/* ---- files ---- */

/* One of the two files of records. */
typedef struct Place {
    const RecordSet *known; /* the records it held */
    RecordSet *rows;
    ReportSink sink; /* its path is NULL where nothing is written */
    RunnerTask task;
} Place;

static Status profile_cell(const Config *config, CellLink *link)
{
    const ProfileTask task = {0};
    return profile_cell_run(config, link, &task);
}

/* Rows that were cut short run again: the old record is kept only where no new one comes. */
static Status keep(RecordSet *rows, const RecordSet *known, bool finished)
{
    for (size_t i = 0; i < record_set_size(known); i++) {
        Record *record = record_set_at(known, i);
        const char *key = record_key(record);
        if (cell_record_is_final(record) != finished || (key && record_set_find(rows, key)))
            continue;
        TRY(record_set_share(rows, known, record));
    }
    return ST_OK;
}

static Status place_open(Place *place, const PublishedPlan *plan, const char *name, bool needed)
{
    char path[PATH_MAX];
    json_object_clear(place->known->others); /* of an earlier run: written again at the end */
    if (!needed && record_set_size(place->known) == 0) return ST_OK;
    TRY(output_path(plan->folder, name, path));
    TRY(keep(place->rows, place->known, true));
    return report_sink_open(&place->sink, path, "json", place->known);
}

static Status place_finish(Place *place)
{
    if (!place->sink.path) return ST_OK;
    TRY(keep(place->rows, place->known, false));
    return report_sink_finish(&place->sink, &(ReportInput){.set = place->rows});
}

/* ---- rows ---- */

typedef struct Run {
    PublishedOrder *order;
    const PublishedTime *time;
    Place places[2]; /* of rows and, at [true], of profiles */
    Progress progress;
} Run;

/* Sets the progress bar to the expected seconds of the waiting rows, at most the time left. */
static void set_remaining(Run *run, double left)
{
    double rest = 0;
    for (int i = 0; i < run->order->n; i++) {
        if (run->order->cells[i].state == CELL_ORDER_WAITING) rest += run->order->cells[i].seconds;
    }
    run->progress.total = run->progress.finished + fmin(rest, left);
}

/* A row that the budget cut has no record: it waits for the next run. */
static Status take_record(Run *run, Place *place, int i, Record *record)
{
    const Config *config = &run->order->configs[i];
    if (record_status(record) == RECORD_TIMEOUT && config->budgeted) {
        cell_order_timed_out(run->order->cells, run->order->n, i);
        return ST_OK;
    }
    run->order->cells[i].state = state_of(record);
    TRY(record_set_add(place->rows, record));
    return report_sink_add(&place->sink, record);
}

static Status finish_group(Run *run, Place *place, int i, CellGroup *group)
{
    CLEANUP(record_set_free) RecordSet found = {0};
    RunnerOutcome outcome = {0};
    TRY(record_set_init(&found, json_array_get(place->rows->environments, 0)));
    TRY(cell_group_finish(group, &found, &outcome));
    return take_record(run, place, i, record_set_at(&found, 0));
}

/* Rows that share a process: the next one, and others that differ from it only in warm-up and steps. */
typedef struct Together {
    int rows[CELL_GROUP_SHARED], n;
    CellGroup groups[CELL_GROUP_SHARED];
    CellGroup *list[CELL_GROUP_SHARED];
} Together;

/* With a deadline every table gets a row before any gets two. */
static bool may_join(const Run *run, const Together *together, int i)
{
    const PublishedOrder *order = run->order;
    const int first = together->rows[0];
    return !order->profiled[i] && !order->profiled[first] &&
           order->cells[i].state == CELL_ORDER_WAITING &&
           cell_shares(&order->configs[first], &order->configs[i]) &&
           (isinf(run->time->deadline) || cell_order_is_next(order->cells, order->n, i));
}

static void find_others(Together *together, const Run *run, int first)
{
    CellOrderCell *cells = run->order->cells;
    together->rows[together->n++] = first;
    cells[first].state = CELL_ORDER_MEASURED; /* as it will be */
    for (int i = 0; i < run->order->n && together->n < CELL_GROUP_SHARED; i++) {
        if (!may_join(run, together, i)) continue;
        together->rows[together->n++] = i;
        cells[i].state = CELL_ORDER_MEASURED;
    }
    for (int k = 0; k < together->n; k++) cells[together->rows[k]].state = CELL_ORDER_WAITING;
}

/* A row that takes longer than expected must not use up the time of cheaper ones: every run measures
 * something. */
static double most_time(const PublishedOrder *order, int i, double left)
{
    const double others = cell_order_cheaper(order->cells, order->n, i);
    if (isinf(left) || others <= 0) return left;
    return left - fmin(fmax(others, least_reserved * left), most_reserved * left);
}

static void give_time(Run *run, int i, double left)
{
    Config *config = &run->order->configs[i];
    const double most = most_time(run->order, i, left);
    config->budgeted = most < config->timeout;
    if (config->budgeted) config->timeout = most;
    config->sample_share = share_of(run->time, run->order, left);
}

static Status run_together(Run *run, Place *place, Together *together)
{
    bool interrupted = false;
    int done = 1;
    TRY(together->n > 1 ? cell_group_run_shared(together->list, together->n, &done, &interrupted)
                        : cell_group_run(together->list[0], 0, 0, &interrupted));
    if (interrupted && together->n == 1) done = 0;
    for (int k = 0; k < done; k++)
        TRY(finish_group(run, place, together->rows[k], together->list[k]));
    return ST_OK;
}

static Status run_row(Run *run, int first, double left)
{
    Together together = {0};
    Place *place = &run->places[run->order->profiled[first]];
    Status status = ST_OK;
    int made = 0;
    find_others(&together, run, first);
    set_remaining(run, left);
    for (; made < together.n && status == ST_OK; made += status == ST_OK) {
        const int i = together.rows[made];
        give_time(run, i, left);
        together.list[made] = &together.groups[made];
        status = cell_group_make(together.list[made], &place->task, i + 1, &run->progress);
    }
    if (status == ST_OK) status = run_together(run, place, &together);
    for (int k = 0; k < made; k++) cell_group_free(&together.groups[k]);
    return status;
}

static Status run_rows(Run *run)
{
    int turn = -1;
    while (!interrupt_signal()) {
        const double left = run->time->deadline - clock_seconds();
        const int next = cell_order_next(run->order->cells, run->order->n, left, &turn);
        if (next < 0 || left < too_little) return ST_OK;
        TRY(run_row(run, next, left));
    }
    return ST_OK;
}

static Status run_timed(Run *run, int *signal)
{
    progress_begin(&run->progress, run->order->n, 0);
    if (run->order->n > 0 && time_estimate_weight_is_known(&run->order->configs[0]))
        progress_trust_weights(&run->progress);
    interrupt_begin();
    Status status = published_estimate_leave_out(run->order);
    if (status == ST_OK) status = run_rows(run);
    *signal = interrupt_signal();
    interrupt_end();
    progress_end(&run->progress);
    return status;
}

/* The options that label a row, where rows differ in them. */
static const bool labels[OPTION_COUNT] = {
    [OPTION_SIZE] = true,      [OPTION_CTX] = true,       [OPTION_D_HEAD] = true,
    [OPTION_PRECISION] = true, [OPTION_ATTENTION] = true, [OPTION_MODE] = true,
    [OPTION_WARMUP] = true,    [OPTION_SEED] = true};

static void close_places(Run *run)
{
    for (int p = 0; p < 2; p++) {
        if (run->places[p].sink.path) report_sink_close(&run->places[p].sink);
    }
}

Status published_run(const PublishedPlan *plan, PublishedOrder *order, const PublishedTime *time,
                     PublishedRecords *records, int *signal)
{
    CLEANUP(published_list_records_free) PublishedRecords known = {0};
    CLEANUP(close_places) Run run = {.order = order, .time = time};
    Sweep sweep = {.configs = order->configs, .n = order->n};
    bool needed[2] = {true, false};
    for (int i = 0; i < sweep.n; i++) needed[order->profiled[i]] = true;
    sweep_find_varying(&sweep);
    for (int id = 0; id < OPTION_COUNT; id++) sweep.varies[id] = sweep.varies[id] && labels[id];
    TRY(published_list_records(&known, json_array_get(records->of[false].environments, 0)));
    TRY(published_run_read_known(plan, &known));
    for (int p = 0; p < 2; p++) {
        Place *place = &run.places[p];
        *place = (Place){.known = &known.of[p], .rows = &records->of[p]};
        place->task = (RunnerTask){.configs = sweep.configs,
                                   .n = sweep.n,
                                   .varies = sweep.varies,
                                   .doing = p ? "profile" : NULL,
                                   .cell = p ? profile_cell : cell_run};
        TRY(place_open(place, plan, published_run_files[p], needed[p]));
    }
    published_run_mark_known(order, &known);
    TRY(run_timed(&run, signal));
    for (int p = 0; p < 2 && !*signal; p++) TRY(place_finish(&run.places[p]));
    return ST_OK;
}
