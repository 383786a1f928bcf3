#include "cli/published/published_expected.h"

#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "cli/published/published_fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mib = 1024.0 * 1024.0;

static double planned_mib(const Config *config, const Placement *placement)
{
    size_t bytes = 0;
    if (fit_planned_bytes(config, placement, config->mode, &bytes) != ST_OK) return NAN;
    return (double)bytes / mib;
}

static double before_backward_mib(const Config *config, const Placement *placement)
{
    Fit fit = {0};
    double x = NAN;
    if (fit_make(&fit, config, placement, 0, SIZE_MAX) == ST_OK && fit.before_backward > 0)
        x = (double)fit.before_backward / mib;
    fit_free(&fit);
    return x;
}

/* The rows that may tell of others. */
typedef struct Known {
    TimeEstimateRow *cells;
    int n;
} Known;

static const Record *find(const RecordSet *rows, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return record_set_find(rows, key);
}

static Status known_make(Known *known, int writeup, const PublishedCells *cells,
                         const RecordSet *rows, const RecordSet *profiles)
{
    known->cells =
        calloc((size_t)(published_list_n_rows + published_list_n_tables), sizeof *known->cells);
    if (!known->cells) return NO_MEMORY("for the rows of a write-up");
    for (int r = 0; r < published_list_n_rows; r++) {
        if (published_list_tables[published_list_rows[r].table].writeup != writeup) continue;
        known->cells[known->n++] = (TimeEstimateRow){&cells->rows[r], find(rows, &cells->rows[r])};
    }
    for (int id = 0; id < published_list_n_tables; id++) {
        if (published_list_tables[id].writeup != writeup ||
            !published_list_is_profile(&published_list_tables[id]))
            continue;
        known->cells[known->n++] =
            (TimeEstimateRow){&cells->watched[id], find(profiles, &cells->watched[id])};
    }
    return ST_OK;
}

/* Every cell has run by now: `auto` may open a device. */
static double planned(const char *path, const Config *config, const Known *known)
{
    Placement placement;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    if (strcmp(path, "peak_alloc_mib") == 0) return planned_mib(config, &placement);
    if (strcmp(path, "mem_before_bwd_mib") == 0) return before_backward_mib(config, &placement);
    return time_estimate_from_rows(path, config, known->cells, known->n);
}

/* ---- all that tables may ask for ---- */

static json_t *cell_of(json_t *expected, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    json_t *cell = json_object_get(expected, key);
    if (!cell && json_object_set_new(expected, key, cell = json_object()) != 0) return NULL;
    return cell;
}

static Status put(json_t *expected, const char *path, const Config *config, const Known *known)
{
    const double x = planned(path, config, known);
    if (!isfinite(x)) return ST_OK;
    json_t *cell = cell_of(expected, config);
    if (!cell) return NO_MEMORY("for what is expected of rows");
    return record_put_number(cell, path, x);
}

/* What ended ok or does not fit has all that it will ever have. */
static bool is_settled(const Record *record)
{
    return record && (record_status(record) == RECORD_OK || record_status(record) == RECORD_OOM ||
                      record_status(record) == RECORD_UNSUPPORTED);
}

/* ---- what could not be run, had there been time ---- */

static Status put_fit(json_t *expected, const Config *config)
{
    PublishedFit fit;
    TRY(published_fits_find(config, &fit));
    if (fit.status == RECORD_OK) return ST_OK;
    json_t *cell = cell_of(expected, config);
    if (!cell) return NO_MEMORY("for what is expected of rows");
    TRY(record_put_status(cell, fit.status, fit.message));
    return fit.runs ? record_put_text(cell, "fits", config_mode_name(fit.mode)) : ST_OK;
}

/* ---- rows ---- */

static Status put_row(json_t *expected, const PublishedTable *table, const Config *config,
                      const RecordSet *rows, const Known *known)
{
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    const int n = published_list_figures(table, figures);
    if (is_settled(find(rows, config))) return ST_OK;
    TRY(put_fit(expected, config));
    for (int i = 0; i < n; i++) TRY(put(expected, figures[i].path, config, known));
    return ST_OK;
}

/* On a CPU an op is its kernel, and a pass is its ops one after the other. */
static Status put_kernels(json_t *expected, const Config *config, const Known *known)
{
    Placement placement;
    const double x = planned("forward.mean_ms", config, known);
    if (placement_of(config, &placement) != ST_OK || placement.backend != BACKEND_cpu || isnan(x))
        return ST_OK;
    return record_put_number(cell_of(expected, config), "device_forward_ms", x);
}

static Status put_watched(json_t *expected, const Config *config, const RecordSet *profiles,
                          const Known *known)
{
    if (is_settled(find(profiles, config))) return ST_OK;
    TRY(put_fit(expected, config));
    TRY(put(expected, "forward.mean_ms", config, known));
    TRY(put(expected, "backward.mean_ms", config, known));
    TRY(put(expected, "optimizer.mean_ms", config, known));
    TRY(put(expected, "step.mean_ms", config, known));
    return put_kernels(expected, config, known);
}

static Status fill(json_t *expected, int writeup, const PublishedCells *cells,
                   const RecordSet *rows, const RecordSet *profiles, const Known *known)
{
    for (int r = 0; r < published_list_n_rows; r++) {
        const PublishedTable *table = &published_list_tables[published_list_rows[r].table];
        if (table->writeup == writeup && cells->has_row[r])
            TRY(put_row(expected, table, &cells->rows[r], rows, known));
    }
    for (int id = 0; id < published_list_n_tables; id++) {
        const PublishedTable *table = &published_list_tables[id];
        if (table->writeup == writeup && published_list_is_profile(table) && cells->has_table[id])
            TRY(put_watched(expected, &cells->watched[id], profiles, known));
    }
    return ST_OK;
}

Status published_expected_fill(json_t *expected, int writeup, const PublishedCells *cells,
                               const RecordSet *rows, const RecordSet *profiles)
{
    Known known = {0};
    Status status = known_make(&known, writeup, cells, rows, profiles);
    if (status == ST_OK) status = fill(expected, writeup, cells, rows, profiles, &known);
    free(known.cells);
    return status;
}

double published_expected_figure(const json_t *expected, const char *path, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    const json_t *cell = json_object_get(expected, key);
    double x = NAN;
    return cell && record_number(cell, path, &x) ? x : NAN;
}

const Record *published_expected_reason(const json_t *expected, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    const json_t *cell = json_object_get(expected, key);
    return record_text(cell, "status") ? cell : NULL;
}
