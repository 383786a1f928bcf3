#include "cli/forecast/forecast_output.h"

#include "base/human.h"
#include "base/json_text.h"
#include "bench/record/cell_label.h"
#include "cli/output.h"
#include "cli/plan/planned_config.h"
#include "report/format/table_write.h"

#include <math.h>
#include <string.h>

static const char *device_name(const Limits *limits)
{
    return *limits->key.gpu ? limits->key.gpu : limits->key.cpu;
}

static double tokens_a_second(const StepForecast *f)
{
    return f->tokens / f->step;
}

/* "medium bf16": what sets the cell apart; of one cell its size. */
static CellLabel label_of(const Sweep *sweep, int i)
{
    bool shown[OPTION_COUNT];
    memcpy(shown, sweep->varies, sizeof shown);
    shown[OPTION_SIZE] = true;
    return cell_label(&sweep->configs[i], shown);
}

/* ---- all of them ---- */

static void put_interval(Table *table, const StepForecast *f)
{
    if (isnan(f->low))
        table_dashes(table, 1);
    else
        table_cell_printf(table, "%s to %s", human_number(1e3 * f->low, 4).s,
                          human_number(1e3 * f->high, 4).s);
}

static void put_fits(Table *table, const StepForecast *f)
{
    table_cell(table, human_bytes((double)f->need).s);
    table_cell(table, f->available == 0 ? "-" : f->need <= f->available ? "yes" : "no");
}

static void add_row(Table *table, const ForecastOutput *all, const ForecastDevice *device, int i)
{
    const StepForecast *f = &device->cells[i];
    const CellLabel label = label_of(all->sweep, i);
    TABLE_CELLS(table, device_name(&device->limits), label.s);
    if (*f->why) {
        table_cell(table, "unsupported");
        table_dashes(table, table->n_columns - 3);
        table_note_printf(table, "%s, %s: %s", device_name(&device->limits), label.s, f->why);
        return;
    }
    table_cell(table, human_number(1e3 * f->step, 4).s);
    put_interval(table, f);
    table_cell(table, human_whole(round(tokens_a_second(f))).s);
    table_cell(table, human_percent(f->roof, f->step).s);
    put_fits(table, f);
    if (all->price > 0) table_cell(table, human_si(3600 * tokens_a_second(f) / all->price).s);
}

static void note_guessed(Table *table, const ForecastOutput *all)
{
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) {
            const char *ops = all->devices[d].cells[i].guessed;
            if (!*ops) continue;
            table_note_printf(table,
                              "%s: %s: not measured in this precision or implementation; their "
                              "share of the limit is that of another, or all of it",
                              label_of(all->sweep, i).s, ops);
            return;
        }
    }
}

static void note_source(Table *table, const Efficiency *e)
{
    Text steps = {0};
    for (int i = 0; i < e->n_sources; i++)
        text_printf(&steps, "%s%s", i ? ", " : "", e->sources[i]);
    table_note_printf(table, "what ops reach of the limits was measured on %s, in %d steps: %s",
                      *e->measured_on.gpu ? e->measured_on.gpu : e->measured_on.cpu, e->n_sources,
                      text_str(&steps));
    text_free(&steps);
    if (!isnan(e->error))
        table_note_printf(table,
                          "each of these steps by the others: %.1f %% off (root mean square)",
                          100 * (exp(e->error) - 1));
}

static void note_devices(Table *table, const ForecastOutput *all)
{
    bool sheets = false, others = false;
    for (int d = 0; d < all->n_devices; d++) {
        const ForecastDevice *device = &all->devices[d];
        sheets |= device->limits.datasheet != NULL;
        for (int i = 0; i < all->sweep->n; i++)
            others |= isnan(device->cells[i].low) && !*device->cells[i].why;
    }
    if (sheets)
        table_note_printf(
            table,
            "limits are those of data sheets, lowered to the shares that %s reached of "
            "its own; --limits FILE takes what was measured",
            all->efficiency->measured_on.gpu);
    if (others)
        table_note(table,
                   "no interval where nobody has measured yet how far this is off: on another "
                   "GPU than that of the efficiencies, by a data sheet, of ops not measured");
}

static void fill_all(Table *table, const ForecastOutput *all)
{
    table->title = "Forecast of every step";
    TABLE_COLUMNS(table, 2, "device", "cell", "step (ms)", "90 % are between (ms)", "tokens/s",
                  "% of limit", "memory", "fits");
    if (all->price > 0) table_column(table, "tokens for 1", "", true);
    TABLE_SPARE(table, "% of limit", "tokens/s", "memory", "fits", "90 % are between (ms)");
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) add_row(table, all, &all->devices[d], i);
    }
    note_source(table, all->efficiency);
    note_devices(table, all);
    note_guessed(table, all);
    if (all->price > 0)
        table_note_printf(table, "tokens for 1: for one unit of what the device costs, %s an hour",
                          human_number(all->price, 4).s);
}

/* ---- of a single one ---- */

static void fill_phases(Table *table, const StepForecast *f)
{
    table->title = "Phases of the step";
    TABLE_COLUMNS(table, 1, "phase", "time (ms)", "share");
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (!(f->phase[p] > 0)) continue;
        table_cell(table, plan_phase_name((Phase)p));
        table_cell(table, human_number(1e3 * f->phase[p], 4).s);
        table_cell_printf(table, "%s %%", human_percent(f->phase[p], f->step).s);
    }
}

static void fill_top(Table *table, const StepForecast *f)
{
    table->title = "What would change first";
    TABLE_COLUMNS(table, 3, "what would change first", "op", "phase", "time (ms)",
                  "at the limit (ms)", "between (ms)");
    TABLE_SPARE(table, "op", "between (ms)");
    for (int i = 0; i < f->n_top; i++) {
        const StepForecastOp *op = &f->top[i];
        TABLE_CELLS(table, op->scope, plan_op_name(op->op), plan_phase_name(op->phase));
        TABLE_CELLS(table, human_number(1e3 * op->seconds, 4).s, human_number(1e3 * op->roof, 4).s,
                    human_number(1e3 * (op->seconds - op->roof), 4).s);
    }
}

static Status write_table(Text *out, const char *format,
                          void (*fill)(Table *, const StepForecast *), const StepForecast *f)
{
    Table table = {0};
    fill(&table, f);
    const Status status = table_write_next(out, format, &table);
    table_free(&table);
    return status;
}

/* ---- the fastest ---- */

static bool lacks_memory(const StepForecast *f)
{
    return f->available > 0 && f->need > f->available;
}

/* Those that fit come first. */
static bool is_faster(const StepForecast *a, const StepForecast *b)
{
    if (lacks_memory(a) != lacks_memory(b)) return lacks_memory(b);
    return tokens_a_second(a) > tokens_a_second(b);
}

static Status conclude(Text *out, const char *format, const ForecastOutput *all)
{
    CLEANUP(text_free) Text text = {0};
    const StepForecast *best = NULL;
    int device = 0, cell = 0, n = 0;
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) {
            const StepForecast *f = &all->devices[d].cells[i];
            if (*f->why) continue;
            n++;
            if (best && !is_faster(f, best)) continue;
            best = f, device = d, cell = i;
        }
    }
    if (!best) return ST_OK;
    text_printf(&text, "%s%s on %s: a step in %s, %s tokens/s", n > 1 ? "Fastest: " : "",
                label_of(all->sweep, cell).s, device_name(&all->devices[device].limits),
                human_seconds(best->step).s, human_whole(round(tokens_a_second(best))).s);
    if (all->price > 0)
        text_printf(&text, ", %s tokens for 1",
                    human_si(3600 * tokens_a_second(best) / all->price).s);
    text_puts(&text, lacks_memory(best)     ? "; it does not fit in memory."
                     : best->available == 0 ? "."
                                            : "; it fits in memory.");
    return table_write_conclusion(out, format, &text);
}

static Status write_tables(Text *out, const char *format, const ForecastOutput *all)
{
    const StepForecast *only = &all->devices[0].cells[0];
    Table table = {0};
    fill_all(&table, all);
    const Status status = table_write_next(out, format, &table);
    table_free(&table);
    TRY(status);
    if (all->n_devices == 1 && all->sweep->n == 1 && !*only->why) {
        TRY(write_table(out, format, fill_phases, only));
        TRY(write_table(out, format, fill_top, only));
    }
    return conclude(out, format, all);
}

/* ---- JSON ---- */

static Status put_figures(json_t *json, const StepForecast *f, double price)
{
    static const char *const paths[PHASE_COUNT] = {[PHASE_FORWARD] = "forecast.forward_ms",
                                                   [PHASE_BACKWARD] = "forecast.backward_ms",
                                                   [PHASE_OPTIMIZER] = "forecast.optimizer_ms"};
    TRY(record_put_number(json, "forecast.step_ms", 1e3 * f->step));
    TRY(record_put_number(json, "forecast.low_ms", 1e3 * f->low));
    TRY(record_put_number(json, "forecast.high_ms", 1e3 * f->high));
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (paths[p]) TRY(record_put_number(json, paths[p], 1e3 * f->phase[p]));
    }
    TRY(record_put_number(json, "forecast.tokens_per_s", tokens_a_second(f)));
    TRY(record_put_number(json, "forecast.limit_step_ms", 1e3 * f->roof));
    TRY(planned_config_put_mib(json, "forecast.needed_mib", f->need));
    if (price > 0)
        TRY(record_put_number(json, "forecast.tokens_per_unit", 3600 * tokens_a_second(f) / price));
    return ST_OK;
}

static Status put_cell(json_t *list, const ForecastOutput *all, const ForecastDevice *device, int i)
{
    const StepForecast *f = &device->cells[i];
    json_t *json = json_object();
    if (json_array_append_new(list, json)) return NO_MEMORY("for a forecast");
    TRY(record_put_text(json, "limits_of", limits_device_name(&device->limits).s));
    if (device->limits.datasheet)
        TRY(record_put_text(json, "limits_from", device->limits.datasheet));
    TRY(planned_config_json(json, &all->sweep->configs[i], &f->placement, f->attention,
                            *f->why ? f->why : NULL));
    return *f->why ? ST_OK : put_figures(json, f, all->price);
}

static Status write_json(Text *out, const ForecastOutput *all)
{
    CLEANUP(json_text_free) json_t *json = json_object();
    json_t *list = json_array();
    if (!json || json_object_set_new(json, "forecasts", list)) return NO_MEMORY("for forecasts");
    TRY(record_put_text(json, "efficiency_of",
                        *all->efficiency->measured_on.gpu ? all->efficiency->measured_on.gpu
                                                          : all->efficiency->measured_on.cpu));
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) TRY(put_cell(list, all, &all->devices[d], i));
    }
    return output_json(out, json);
}

Status forecast_output_write(Text *out, const char *format, const ForecastOutput *forecasts)
{
    return strcmp(format, "json") == 0 ? write_json(out, forecasts)
                                       : write_tables(out, format, forecasts);
}
