#include "cli/published/published_estimate.h"

#include "base/array.h"
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
    if (fit_make(&fit, config, placement, 0, SIZE_MAX) != ST_OK) return NAN;
    return fit.before_backward > 0 ? (double)fit.before_backward / mib : NAN;
}

/* The cells of the write-up, each with its record. */
typedef struct Measured {
    TimeEstimateRow *rows;
    int n;
} Measured;

/* Every cell has run by now: `auto` may open a device. */
static double planned(const Measured *measured, const char *path, const Config *config)
{
    Placement placement;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    if (strcmp(path, "peak_alloc_mib") == 0) return planned_mib(config, &placement);
    if (strcmp(path, "mem_before_bwd_mib") == 0) return before_backward_mib(config, &placement);
    return time_estimate_from_rows(path, config, measured->rows, measured->n);
}

static Status put_number(json_t *out, const char *path, double x)
{
    return isfinite(x) ? record_put_number(out, path, x) : ST_OK;
}

static Status put_fit(json_t *out, const Config *config)
{
    PublishedFit fit;
    TRY(published_estimate_fit(config, &fit));
    if (fit.status == RECORD_OK) return ST_OK;
    TRY(record_put_status(out, fit.status, fit.message));
    return fit.runs ? record_put_text(out, "fits", config_modes[fit.mode]) : ST_OK;
}

/* On a CPU an op is its kernel, and a pass is its ops one after the other. */
static Status put_kernels(json_t *out, const Measured *measured, const Config *config)
{
    Placement placement;
    if (placement_of(config, &placement) != ST_OK || placement.backend != BACKEND_cpu) return ST_OK;
    return put_number(out, "device_forward_ms", planned(measured, "forward.mean_ms", config));
}

static Status put_cell(json_t *out, const Measured *measured, const PublishedCell *cell)
{
    static const PublishedTable phases = {
        .figures = "forward.mean_ms backward.mean_ms optimizer.mean_ms step.mean_ms"};
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    const int n = published_figure_list(
        cell->profiled ? &phases : &published_list_tables[cell->table], figures);
    TRY(put_fit(out, cell->config));
    for (int i = 0; i < n; i++) {
        if (figures[i].kind == PUBLISHED_VALUE)
            TRY(put_number(out, figures[i].path, planned(measured, figures[i].path, cell->config)));
    }
    return cell->profiled ? put_kernels(out, measured, cell->config) : ST_OK;
}

/* A cell that is ok, does not fit or is unsupported has every figure it will ever have. */
static bool is_settled(const Record *record)
{
    return record && (record_status(record) == RECORD_OK || record_status(record) == RECORD_OOM ||
                      record_status(record) == RECORD_UNSUPPORTED);
}

/* Adds to what another table has of the same cell. */
static Status fill_cell(json_t *expected, const Measured *measured, const PublishedCell *cell)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(cell->config, key);
    json_t *out = json_object_get(expected, key);
    if (!out && json_object_set_new(expected, key, out = json_object()))
        return NO_MEMORY("for the estimates of rows");
    TRY(put_cell(out, measured, cell));
    if (json_object_size(out) == 0) json_object_del(expected, key);
    return ST_OK;
}

Status published_estimate_fill(json_t *expected, int writeup, const PublishedCells *cells,
                               const PublishedRecords *records)
{
    const size_t n = (size_t)(published_list_n_rows + published_list_n_tables);
    CLEANUP(array_free) TimeEstimateRow *rows = calloc(n, sizeof *rows);
    Measured measured = {.rows = rows};
    if (!rows) return NO_MEMORY("for the rows of a write-up");
    for (PublishedCell cell = {0}; published_list_next(&cell, cells, writeup);)
        rows[measured.n++] = (TimeEstimateRow){
            cell.config, published_list_record(records, cell.config, cell.profiled)};
    for (PublishedCell cell = {0}; published_list_next(&cell, cells, writeup);) {
        if (!is_settled(published_list_record(records, cell.config, cell.profiled)))
            TRY(fill_cell(expected, &measured, &cell));
    }
    return ST_OK;
}

static const json_t *expected_of(const json_t *expected, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return json_object_get(expected, key);
}

double published_estimate_figure(const json_t *expected, const char *path, const Config *config)
{
    double x = NAN;
    record_number(expected_of(expected, config), path, &x);
    return x;
}

const Record *published_estimate_reason(const json_t *expected, const Config *config)
{
    const json_t *cell = expected_of(expected, config);
    return record_text(cell, "status") ? cell : NULL;
}
