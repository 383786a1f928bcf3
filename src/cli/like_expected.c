#include "cli/like_expected.h"

#include "bench/fit.h"
#include "bench/outlook.h"
#include "bench/recompute_fit.h"

#include <math.h>
#include <string.h>

static const double mib = 1024.0 * 1024.0;

static double planned_mib(const Config *config, const Placement *placement)
{
    size_t bytes = 0;
    if (recompute_fit_planned(config, placement, config->mode, &bytes) != ST_OK) return NAN;
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

/* Products at the rate that steps reach here; NAN where the plan has no such figure, or the machine no such
 * precision. Every cell has run by now: `auto` may open a device. */
static double planned(const char *path, const Config *config, const SuiteRates *rates)
{
    Placement placement;
    Config forward = *config;
    forward.mode = MODE_FWD;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    const double rate = rates->flops[config->precision] * 1e-3; /* per ms */
    const double step = outlook_work(config) / rate;
    if (strcmp(path, "peak_alloc_mib") == 0) return planned_mib(config, &placement);
    if (strcmp(path, "mem_before_bwd_mib") == 0) return before_backward_mib(config, &placement);
    if (config->from_first) return NAN; /* what a cold step takes no plan knows */
    if (strcmp(path, "forward.mean_ms") == 0) return outlook_work(&forward) / rate;
    if (strcmp(path, "backward.mean_ms") == 0) return 2 * outlook_work(&forward) / rate;
    if (strcmp(path, "step.mean_ms") == 0) return step;
    if (strcmp(path, "tokens_per_s") == 0)
        return (double)config->batch * (double)config->ctx / step * 1e3;
    return NAN;
}

/* ---- all that tables may ask for ---- */

static Status put(json_t *expected, const char *path, const Config *config, const SuiteRates *rates)
{
    char key[RECORD_KEY_SIZE];
    const double x = planned(path, config, rates);
    if (!isfinite(x)) return ST_OK;
    record_key_of_config(config, key);
    json_t *cell = json_object_get(expected, key);
    if (!cell && json_object_set_new(expected, key, cell = json_object()) != 0)
        return FAIL(ST_NO_MEMORY, "no memory for what the plan says");
    return record_put_number(cell, path, x);
}

static bool is_measured(const RecordSet *rows, const char *path, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    double x;
    record_key_of_config(config, key);
    const Record *record = record_set_find(rows, key);
    return record && record_number(record, path, &x);
}

static Status put_row(json_t *expected, const LikeTable *table, const Config *config,
                      const RecordSet *rows, const SuiteRates *rates)
{
    LikeFigure figures[LIKE_MOST_FIGURES];
    const int n = like_figures(table, figures);
    for (int i = 0; i < n; i++) {
        if (!is_measured(rows, figures[i].path, config))
            TRY(put(expected, figures[i].path, config, rates));
    }
    return ST_OK;
}

Status like_expected_fill(json_t *expected, int writeup, const LikeCells *cells,
                          const RecordSet *rows, const SuiteRates *rates)
{
    for (int r = 0; r < like_n_rows; r++) {
        const LikeTable *table = &like_tables[like_rows[r].table];
        if (table->writeup == writeup) TRY(put_row(expected, table, &cells->rows[r], rows, rates));
    }
    for (int id = 0; id < like_n_tables; id++) {
        if (like_tables[id].writeup != writeup || !like_is_profile(&like_tables[id])) continue;
        TRY(put(expected, "forward.mean_ms", &cells->watched[id], rates));
        TRY(put(expected, "backward.mean_ms", &cells->watched[id], rates));
        TRY(put(expected, "step.mean_ms", &cells->watched[id], rates));
    }
    return ST_OK;
}

double like_expected_figure(const json_t *expected, const char *path, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    const json_t *cell = json_object_get(expected, key);
    double x = NAN;
    return cell && record_number(cell, path, &x) ? x : NAN;
}
