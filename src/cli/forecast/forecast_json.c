#include "cli/forecast/forecast_json.h"

#include "base/json_text.h"
#include "cli/output.h"
#include "cli/plan/planned_config.h"
#include "report/format/flat_list.h"

#include <stdio.h>
#include <string.h>

static const FlatColumn columns[] = {
#define COLUMN(name, path, type) {#name, path, false, #type},
#include "cli/forecast/forecast_columns.def"
};

static const char *efficiency_of(const ForecastOutput *all)
{
    const LimitsKey *key = &all->efficiency->measured_on;
    return *key->gpu ? key->gpu : key->cpu;
}

/* ---- a cell ---- */

static Status put_bounds(json_t *json, const StepForecast *f)
{
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) {
        char path[64];
        snprintf(path, sizeof path, "forecast.%s_ms", efficiency_bound_names[b]);
        TRY(record_put_number(json, path, 1e3 * f->bound[b]));
    }
    return ST_OK;
}

static Status put_top(json_t *json, const StepForecast *f)
{
    json_t *list = json_array();
    if (!list || json_object_set_new(json, "change_first", list))
        return NO_MEMORY("for a forecast");
    for (int i = 0; i < f->n_top; i++) {
        const StepForecastOp *op = &f->top[i];
        json_t *row = json_object();
        if (json_array_append_new(list, row)) return NO_MEMORY("for a forecast");
        TRY(record_put_text(row, "scope", op->scope));
        TRY(record_put_text(row, "op", plan_op_name(op->op)));
        TRY(record_put_text(row, "phase", plan_phase_name(op->phase)));
        TRY(record_put_number(row, "ms", 1e3 * op->seconds));
        TRY(record_put_number(row, "limit_ms", 1e3 * op->roof));
    }
    return ST_OK;
}

static Status put_figures(json_t *json, const StepForecast *f, double price)
{
    static const char *const paths[PHASE_COUNT] = {[PHASE_FORWARD] = "forecast.forward_ms",
                                                   [PHASE_BACKWARD] = "forecast.backward_ms",
                                                   [PHASE_OPTIMIZER] = "forecast.optimizer_ms"};
    const double rate = step_forecast_tokens_per_s(f);
    TRY(record_put_number(json, "forecast.step_ms", 1e3 * f->step));
    TRY(record_put_number(json, "forecast.low_ms", 1e3 * f->low));
    TRY(record_put_number(json, "forecast.high_ms", 1e3 * f->high));
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (paths[p]) TRY(record_put_number(json, paths[p], 1e3 * f->phase[p]));
    }
    TRY(put_bounds(json, f));
    TRY(record_put_number(json, "forecast.tokens_per_s", rate));
    TRY(record_put_number(json, "forecast.limit_step_ms", 1e3 * f->roof));
    TRY(record_put_number(json, "forecast.joules_per_token_at_most",
                          step_forecast_joules_per_token(f)));
    TRY(planned_config_put_mib(json, "forecast.needed_mib", f->need));
    if (price > 0) TRY(record_put_number(json, "forecast.tokens_per_unit", 3600 * rate / price));
    return put_top(json, f);
}

static Status put_cell(json_t *list, const ForecastOutput *all, const ForecastDevice *device, int i)
{
    const StepForecast *f = &device->cells[i];
    json_t *json = json_object();
    if (json_array_append_new(list, json)) return NO_MEMORY("for a forecast");
    TRY(record_put_text(json, "limits_of", limits_device_name(&device->limits).s));
    if (device->limits.datasheet)
        TRY(record_put_text(json, "limits_from", device->limits.datasheet));
    TRY(record_put_text(json, "efficiency_of", efficiency_of(all)));
    TRY(record_put_text(json, "as", all->program == EFFICIENCY_TORCH ? "torch-eager" : "roofstep"));
    TRY(planned_config_json(json, &all->configs[i], &f->placement, f->attention,
                            *f->why ? f->why : NULL));
    return *f->why ? ST_OK : put_figures(json, f, all->price);
}

/* ---- all of them ---- */

bool forecast_json_has_format(const char *format)
{
    return strcmp(format, "json") == 0 || flat_list_has_format(format);
}

Status forecast_json_write(Text *out, const char *format, const ForecastOutput *all)
{
    CLEANUP(json_text_free) json_t *json = json_object();
    json_t *list = json_array();
    if (!json || json_object_set_new(json, "forecasts", list)) return NO_MEMORY("for forecasts");
    TRY(record_put_text(json, "efficiency_of", efficiency_of(all)));
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) TRY(put_cell(list, all, &all->devices[d], i));
    }
    const FlatList rows = {.table = "roofstep_forecasts",
                           .columns = columns,
                           .n_columns = sizeof columns / sizeof *columns,
                           .rows = list};
    return strcmp(format, "json") == 0 ? output_json(out, json)
                                       : flat_list_write(out, format, &rows);
}
