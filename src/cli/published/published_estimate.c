#include "cli/published/published_estimate.h"

#include "base/log.h"
#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/child.h"
#include "cli/published/published_figure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether a row fits ---- */

static void take(PublishedFit *out, const Config *config, const Fit *fit)
{
    *out = (PublishedFit){.status = RECORD_OK, .runs = fit->fits, .mode = fit->mode};
    if (fit->fits && fit->mode == config->mode) return;
    out->status = RECORD_OOM;
    out->needs = fit->need[config->mode];
    out->has = fit->available;
    snprintf(out->message, sizeof out->message, "%s %s", config_modes[config->mode],
             fit_shortage(fit, config->mode).s);
}

Status published_estimate_fit(const Config *config, PublishedFit *out)
{
    Placement placement;
    CLEANUP(fit_free) Fit fit = {0};
    Status status = placement_of(config, &placement);
    if (status == ST_OK) status = fit_make_on(&fit, config, &placement, NULL);
    if (status == ST_OK) take(out, config, &fit);
    if (status != ST_UNSUPPORTED) return status;
    *out = (PublishedFit){.status = RECORD_UNSUPPORTED};
    snprintf(out->message, sizeof out->message, "%s", status_message());
    return ST_OK;
}

/* ---- all waiting rows, in a child that may open the device ---- */

typedef struct Survey {
    PublishedOrder *order;
    int oom, unsupported;
} Survey;

/* Writes a line for each row that cannot run: its number and whether memory is the reason. */
static int survey_body(void *arg, int out)
{
    const Survey *survey = arg;
    for (int i = 0; i < survey->order->n; i++) {
        PublishedFit fit;
        char line[32];
        if (survey->order->cells[i].state != CELL_ORDER_WAITING) continue;
        if (published_estimate_fit(&survey->order->configs[i], &fit) != ST_OK || fit.runs) continue;
        const int n = snprintf(line, sizeof line, "%d %d\n", i, fit.status == RECORD_OOM);
        if (!child_write(out, line, (size_t)n)) return 1;
    }
    return 0;
}

static void on_line(void *self, const char *line, size_t length)
{
    Survey *survey = self;
    int i = -1, oom = 0;
    (void)length;
    if (sscanf(line, "%d %d", &i, &oom) != 2 || i < 0 || i >= survey->order->n) return;
    survey->order->cells[i].state = CELL_ORDER_SKIPPED;
    survey->oom += oom != 0;
    survey->unsupported += oom == 0;
}

/* A row that the child did not come to is run, and its own process says why it fails. */
Status published_estimate_leave_out(PublishedOrder *order)
{
    Survey survey = {.order = order};
    ChildResult result;
    const ChildTask task = {
        .body = survey_body, .arg = &survey, .self = &survey, .message = on_line};
    TRY(child_run(&task, &result));
    if (survey.oom + survey.unsupported > 0)
        log_note(
            "rows that cannot run here: %d OOM by the plan, %d unsupported; the tables say why",
            survey.oom, survey.unsupported);
    return ST_OK;
}

/* ---- figures of rows that were not run ---- */

static const double mib = 1024.0 * 1024.0;

static double planned_mib(const Config *config, const Placement *placement)
{
    size_t bytes = 0;
    if (fit_planned_bytes(config, placement, config->mode, &bytes) != ST_OK) return NAN;
    return (double)bytes / mib;
}

static double before_backward_mib(const Config *config, const Placement *placement)
{
    CLEANUP(fit_free) Fit fit = {0};
    double x = NAN;
    if (fit_make(&fit, config, placement, 0, SIZE_MAX) == ST_OK && fit.before_backward > 0)
        x = (double)fit.before_backward / mib;
    return x;
}

/* Everything that the figures are estimated from. */
typedef struct Estimator {
    json_t *expected;
    TimeEstimateRow *cells;
    int n;
} Estimator;

/* Every cell has run by now: `auto` may open a device. */
static double planned(const Estimator *e, const char *path, const Config *config)
{
    Placement placement;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    if (strcmp(path, "peak_alloc_mib") == 0) return planned_mib(config, &placement);
    if (strcmp(path, "mem_before_bwd_mib") == 0) return before_backward_mib(config, &placement);
    return time_estimate_from_rows(path, config, e->cells, e->n);
}

static json_t *cell_of(json_t *expected, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    json_t *cell = json_object_get(expected, key);
    if (!cell && json_object_set_new(expected, key, cell = json_object()) != 0) return NULL;
    return cell;
}

static Status put_number(const Estimator *e, const Config *config, const char *path, double x)
{
    if (!isfinite(x)) return ST_OK;
    json_t *cell = cell_of(e->expected, config);
    return cell ? record_put_number(cell, path, x) : NO_MEMORY("for the estimates of rows");
}

static Status put_fit(const Estimator *e, const Config *config)
{
    PublishedFit fit;
    TRY(published_estimate_fit(config, &fit));
    if (fit.status == RECORD_OK) return ST_OK;
    json_t *cell = cell_of(e->expected, config);
    if (!cell) return NO_MEMORY("for the estimates of rows");
    TRY(record_put_status(cell, fit.status, fit.message));
    return fit.runs ? record_put_text(cell, "fits", config_modes[fit.mode]) : ST_OK;
}

/* On a CPU an op is its kernel, and a pass is its ops one after the other. */
static Status put_kernels(const Estimator *e, const Config *config)
{
    Placement placement;
    if (placement_of(config, &placement) != ST_OK || placement.backend != BACKEND_cpu) return ST_OK;
    return put_number(e, config, "device_forward_ms", planned(e, "forward.mean_ms", config));
}

static Status put_cell(const Estimator *e, const PublishedCell *cell)
{
    static const PublishedTable phases = {
        .figures = "forward.mean_ms backward.mean_ms optimizer.mean_ms step.mean_ms"};
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    const int n = published_figure_list(
        cell->profiled ? &phases : &published_list_tables[cell->table], figures);
    TRY(put_fit(e, cell->config));
    for (int i = 0; i < n; i++) {
        if (figures[i].kind != PUBLISHED_VALUE) continue;
        TRY(put_number(e, cell->config, figures[i].path,
                       planned(e, figures[i].path, cell->config)));
    }
    return cell->profiled ? put_kernels(e, cell->config) : ST_OK;
}

/* A cell that is ok, does not fit or is unsupported has every figure it will ever have. */
static bool is_settled(const Record *record)
{
    return record && (record_status(record) == RECORD_OK || record_status(record) == RECORD_OOM ||
                      record_status(record) == RECORD_UNSUPPORTED);
}

static Status fill(Estimator *e, int writeup, const PublishedCells *cells, const RecordSet *rows,
                   const RecordSet *profiles)
{
    for (PublishedCell cell = {0}; published_list_next(&cell, cells, writeup);)
        e->cells[e->n++] = (TimeEstimateRow){
            cell.config, record_set_find_config(cell.profiled ? profiles : rows, cell.config)};
    for (PublishedCell cell = {0}; published_list_next(&cell, cells, writeup);) {
        if (!is_settled(record_set_find_config(cell.profiled ? profiles : rows, cell.config)))
            TRY(put_cell(e, &cell));
    }
    return ST_OK;
}

Status published_estimate_fill(json_t *expected, int writeup, const PublishedCells *cells,
                               const RecordSet *rows, const RecordSet *profiles)
{
    const size_t n = (size_t)(published_list_n_rows + published_list_n_tables);
    Estimator e = {.expected = expected, .cells = calloc(n, sizeof *e.cells)};
    if (!e.cells) return NO_MEMORY("for the rows of a write-up");
    const Status status = fill(&e, writeup, cells, rows, profiles);
    free(e.cells);
    return status;
}

double published_estimate_figure(const json_t *expected, const char *path, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    const json_t *cell = json_object_get(expected, key);
    double x = NAN;
    return cell && record_number(cell, path, &x) ? x : NAN;
}

const Record *published_estimate_reason(const json_t *expected, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    const json_t *cell = json_object_get(expected, key);
    return record_text(cell, "status") ? cell : NULL;
}
