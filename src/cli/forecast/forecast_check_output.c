#include "cli/forecast/forecast_check_output.h"

#include "base/human.h"
#include "base/json_text.h"
#include "cli/output.h"
#include "report/format/flat_list.h"
#include "report/format/table_write.h"

#include <math.h>
#include <string.h>

/* How far forecasts were off: of the rows that nothing was fitted to. */
typedef struct Errors {
    double sum, worst, roof;
    int n, held, with_interval, doubled;
} Errors;

static double error_of(const ForecastCheck *row)
{
    return row->forecast / row->measured - 1;
}

static double roof_error(const ForecastCheck *row)
{
    return row->roof / row->measured - 1;
}

static bool is_held(const ForecastCheck *row)
{
    return row->measured >= row->low && row->measured <= row->high;
}

static Errors errors_of(const ForecastChecks *checks)
{
    Errors e = {0};
    for (int i = 0; i < checks->n; i++) {
        const ForecastCheck *row = &checks->rows[i];
        if (row->fitted) continue;
        const double error = fabs(error_of(row));
        e.sum += error;
        e.worst = fmax(e.worst, error);
        e.roof += fabs(roof_error(row));
        e.n++;
        e.doubled += fabs(log(row->forecast / row->measured)) > log(2);
        if (isnan(row->low)) continue;
        e.with_interval++;
        e.held += is_held(row);
    }
    return e;
}

/* ---- for people ---- */

static void add_row(Table *table, const ForecastChecks *checks, const ForecastCheck *row)
{
    table_cell(table, row->name);
    if (checks->published) table_cell(table, row->phase);
    TABLE_CELLS(table, human_number(1e3 * row->measured, 4).s,
                human_number(1e3 * row->forecast, 4).s);
    table_cell_printf(table, "%+.1f %%", 100 * error_of(row));
    table_cell_printf(table, "%+.1f %%", 100 * roof_error(row));
    if (checks->published) return;
    table_cell(table, row->fitted       ? "fitted to it"
                      : isnan(row->low) ? "-"
                      : is_held(row)    ? "yes"
                                        : "no");
}

static void note_errors(Table *table, const ForecastChecks *checks)
{
    const Errors e = errors_of(checks);
    if (e.n > 0 && checks->published)
        table_note_printf(table, "%d of them are beyond a factor of two", e.doubled);
    if (e.with_interval > 0)
        table_note_printf(table, "%d of %d are in their 90 %% interval", e.held, e.with_interval);
    if (checks->left > 0)
        table_note_printf(table, "%d rows cannot be forecast; the last one: %s", checks->left,
                          checks->why);
}

static Status conclude(Text *out, const char *format, const ForecastChecks *checks)
{
    CLEANUP(text_free) Text text = {0};
    const Errors e = errors_of(checks);
    const char *what = checks->published ? "published figure" : "step";
    if (e.n == 0) {
        text_printf(&text, "Nothing is checked: %d of %d steps are those that it was fitted to.",
                    checks->n, checks->n);
        return table_write_conclusion(out, format, &text);
    }
    text_printf(&text,
                "%d %s%s that nothing was fitted to: off by %.1f %% in the mean, %.1f %% at worst; "
                "the plain roofline by %.1f %% in the mean.",
                e.n, what, e.n == 1 ? "" : "s", 100 * e.sum / e.n, 100 * e.worst,
                100 * e.roof / e.n);
    return table_write_conclusion(out, format, &text);
}

static Status write_table(Text *out, const char *format, const ForecastChecks *checks)
{
    Table table = {.title = checks->title};
    if (checks->published)
        TABLE_COLUMNS(&table, 2, "row", "phase", "published (ms)", "forecast (ms)", "error",
                      "roofline's error");
    else
        TABLE_COLUMNS(&table, 1, "step", "measured (ms)", "forecast (ms)", "error",
                      "roofline's error", "in the interval");
    TABLE_SPARE(&table, "in the interval");
    for (int i = 0; i < checks->n; i++) add_row(&table, checks, &checks->rows[i]);
    note_errors(&table, checks);
    const Status status = table_write_next(out, format, &table);
    table_free(&table);
    return status == ST_OK ? conclude(out, format, checks) : status;
}

/* ---- for programs ---- */

static const FlatColumn columns[] = {
    {"cell", "cell", false, "TEXT"},
    {"phase", "phase", false, "TEXT"},
    {"measured_ms", "measured_ms", false, "REAL"},
    {"forecast_ms", "forecast_ms", false, "REAL"},
    {"low_ms", "low_ms", false, "REAL"},
    {"high_ms", "high_ms", false, "REAL"},
    {"limit_ms", "limit_ms", false, "REAL"},
    {"error", "error", false, "REAL"},
    {"limit_error", "limit_error", false, "REAL"},
    {"fitted", "fitted", false, "INTEGER"},
};

static Status put_row(json_t *list, const ForecastCheck *row)
{
    json_t *json = json_object();
    if (json_array_append_new(list, json)) return NO_MEMORY("for checks");
    TRY(record_put_text(json, "cell", row->name));
    TRY(record_put_text(json, "phase", row->phase));
    TRY(record_put_number(json, "measured_ms", 1e3 * row->measured));
    TRY(record_put_number(json, "forecast_ms", 1e3 * row->forecast));
    TRY(record_put_number(json, "low_ms", 1e3 * row->low));
    TRY(record_put_number(json, "high_ms", 1e3 * row->high));
    TRY(record_put_number(json, "limit_ms", 1e3 * row->roof));
    TRY(record_put_number(json, "error", error_of(row)));
    TRY(record_put_number(json, "limit_error", roof_error(row)));
    return record_put_int(json, "fitted", row->fitted);
}

static Status put_errors(json_t *json, const ForecastChecks *checks)
{
    const Errors e = errors_of(checks);
    TRY(record_put_int(json, "not_fitted.rows", e.n));
    TRY(record_put_number(json, "not_fitted.mean_error", e.sum / e.n));
    TRY(record_put_number(json, "not_fitted.worst_error", e.worst));
    TRY(record_put_number(json, "not_fitted.limit_mean_error", e.roof / e.n));
    TRY(record_put_int(json, "not_fitted.beyond_a_factor_of_two", e.doubled));
    return record_put_int(json, "left_out", checks->left);
}

static Status write_json(Text *out, const char *format, const ForecastChecks *checks)
{
    CLEANUP(json_text_free) json_t *json = json_object();
    json_t *list = json_array();
    if (!json || json_object_set_new(json, "checks", list)) return NO_MEMORY("for checks");
    for (int i = 0; i < checks->n; i++) TRY(put_row(list, &checks->rows[i]));
    TRY(put_errors(json, checks));
    const FlatList rows = {.table = "roofstep_forecast_checks",
                           .columns = columns,
                           .n_columns = sizeof columns / sizeof *columns,
                           .rows = list};
    return strcmp(format, "json") == 0 ? output_json(out, json)
                                       : flat_list_write(out, format, &rows);
}

Status forecast_check_output_write(Text *out, const char *format, const ForecastChecks *checks)
{
    if (checks->n == 0)
        return FAIL(ST_USAGE, "--check: the files have no step that can be forecast%s%s",
                    *checks->why ? ": " : "", checks->why);
    return strcmp(format, "json") == 0 || flat_list_has_format(format)
               ? write_json(out, format, checks)
               : write_table(out, format, checks);
}
