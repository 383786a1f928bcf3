#include "cli/forecast/forecast_check.h"

#include "base/human.h"
#include "base/json_text.h"
#include "bench/forecast/step_forecast.h"
#include "bench/record/record_config.h"
#include "bench/record/record_stat.h"
#include "cli/output.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Errors {
    double sum, worst, roof;
    int n, held, with_interval, fitted, left;
    char why[256]; /* of the last row that was left out */
} Errors;

typedef struct CheckName {
    char s[96];
} CheckName;

/* As files of efficiencies name the steps that they were fitted to. */
static CheckName name_of(const Record *r)
{
    CheckName name;
    int64_t ctx = 0, batch = 0;
    record_int(r, "ctx", &ctx);
    record_int(r, "batch", &batch);
    snprintf(name.s, sizeof name.s, "%s %lld x %lld %s", record_text(r, "size"), (long long)batch,
             (long long)ctx, record_text(r, "precision"));
    return name;
}

static bool was_fitted(const Efficiency *e, const char *name)
{
    for (int i = 0; i < e->n_sources; i++) {
        if (strcmp(e->sources[i], name) == 0) return true;
    }
    return false;
}

static void count(Errors *errors, const StepForecast *f, double seconds)
{
    const double error = fabs(f->step / seconds - 1);
    errors->sum += error;
    errors->worst = fmax(errors->worst, error);
    errors->roof += fabs(f->roof / seconds - 1);
    errors->n++;
    if (isnan(f->low)) return;
    errors->with_interval++;
    errors->held += seconds >= f->low && seconds <= f->high;
}

static void add_row(Table *table, const char *name, const StepForecast *f, double seconds,
                    bool fitted)
{
    const double error = f->step / seconds - 1, roof = f->roof / seconds - 1;
    table_cell(table, name);
    TABLE_CELLS(table, human_number(1e3 * seconds, 4).s, human_number(1e3 * f->step, 4).s);
    table_cell_printf(table, "%+.1f %%", 100 * error);
    table_cell_printf(table, "%+.1f %%", 100 * roof);
    table_cell(table, fitted                                    ? "fitted to it"
                      : isnan(f->low)                           ? "-"
                      : seconds >= f->low && seconds <= f->high ? "yes"
                                                                : "no");
}

/* Whole steps of a model, measured alone. */
static bool is_step(const Record *r, double *seconds)
{
    double ms;
    if (!record_key(r) || !record_text(r, "size") || !record_text(r, "precision")) return false;
    if (record_status(r) != RECORD_OK || !record_stat_ms(r, "step", &ms)) return false;
    *seconds = 1e-3 * ms;
    return *seconds > 0;
}

static Status check_row(Table *table, Errors *errors, const Record *r, const Efficiency *e,
                        const Limits *limits)
{
    Config config;
    StepForecast f;
    double seconds;
    if (!is_step(r, &seconds)) return ST_OK;
    Status status = record_config(r, &config);
    snprintf(config.device, sizeof config.device, "auto");
    if (status == ST_OK) status = step_forecast_make(&f, e, &config, limits);
    if (status == ST_OK && *f.why) status = FAIL(ST_UNSUPPORTED, "%s", f.why);
    if (status == ST_UNSUPPORTED) {
        errors->left++;
        snprintf(errors->why, sizeof errors->why, "%s", status_message());
        return ST_OK;
    }
    TRY(status);
    const CheckName name = name_of(r);
    const bool fitted = was_fitted(e, name.s);
    add_row(table, name.s, &f, seconds, fitted);
    errors->fitted += fitted;
    if (!fitted) count(errors, &f, seconds);
    return ST_OK;
}

static void note_errors(Table *table, const Errors *errors)
{
    if (errors->with_interval > 0)
        table_note_printf(table, "%d of %d are in their 90 %% interval", errors->held,
                          errors->with_interval);
    if (errors->left > 0)
        table_note_printf(table, "%d rows cannot be forecast; the last one: %s", errors->left,
                          errors->why);
}

static Status conclude(Text *out, const char *format, const Errors *errors)
{
    CLEANUP(text_free) Text text = {0};
    const double n = errors->n;
    if (errors->n == 0) {
        text_printf(&text, "Nothing is checked: %d of %d steps are those that it was fitted to.",
                    errors->fitted, errors->fitted);
        return table_write_conclusion(out, format, &text);
    }
    text_printf(&text,
                "%d %s that nothing was fitted to: off by %.1f %% in the mean, %.1f %% at worst; "
                "the plain roofline by %.1f %% in the mean.",
                errors->n, errors->n == 1 ? "step" : "steps", 100 * errors->sum / n,
                100 * errors->worst, 100 * errors->roof / n);
    return table_write_conclusion(out, format, &text);
}

Status forecast_check_write(Text *out, const char *format, const RecordSet *rows,
                            const Efficiency *efficiency, const Limits *limits)
{
    Table table = {0};
    Errors errors = {0};
    Status status = ST_OK;
    table.title = "Forecasts beside what was measured";
    TABLE_COLUMNS(&table, 1, "step", "measured (ms)", "forecast (ms)", "error", "roofline's error",
                  "in the interval");
    TABLE_SPARE(&table, "in the interval");
    for (size_t i = 0; i < record_set_size(rows) && status == ST_OK; i++)
        status = check_row(&table, &errors, record_set_at(rows, i), efficiency, limits);
    note_errors(&table, &errors);
    if (status == ST_OK && errors.n + errors.fitted == 0)
        status = FAIL(ST_USAGE, "--check: the files have no step that can be forecast%s%s",
                      *errors.why ? ": " : "", errors.why);
    if (status == ST_OK) status = table_write_next(out, format, &table);
    if (status == ST_OK) status = conclude(out, format, &errors);
    table_free(&table);
    return status;
}
