#include "cli/forecast/forecast_output.h"

#include "base/human.h"
#include "bench/record/cell_label.h"
#include "cli/forecast/forecast_json.h"
#include "cli/other_machine.h"
#include "cli/plan/planned_config.h"
#include "report/format/table_write.h"

#include <math.h>
#include <string.h>

static const char *device_name(const Limits *limits)
{
    return *limits->key.gpu ? limits->key.gpu : limits->key.cpu;
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

static int largest_bound(const StepForecast *f)
{
    int most = 0;
    for (int b = 1; b < EFFICIENCY_BOUNDS; b++) {
        if (f->bound[b] > f->bound[most]) most = b;
    }
    return most;
}

/* "memory 64 %": what most of the step waits for. */
static void put_bound(Table *table, const StepForecast *f)
{
    const int most = largest_bound(f);
    table_cell_printf(table, "%s %.0f %%", efficiency_bound_names[most],
                      100 * f->bound[most] / f->step);
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
    table_cell(table, human_whole(round(step_forecast_tokens_per_s(f))).s);
    table_cell(table, human_percent(f->roof, f->step).s);
    put_bound(table, f);
    table_cell_number(table, "%.3g", step_forecast_joules_per_token(f));
    put_fits(table, f);
    if (all->price > 0)
        table_cell(table, human_si(3600 * step_forecast_tokens_per_s(f) / all->price).s);
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
    other_machine_memory_note(table, &all->devices[0].limits);
}

static void note_host(Table *table, const ForecastOutput *all)
{
    const Exec exec = all->configs[0].exec;
    const EfficiencyHost *host = efficiency_host(all->efficiency, all->program, exec);
    const bool gpu = *all->efficiency->measured_on.gpu != '\0';
    if (!host || !gpu || (exec == EXEC_GRAPH && all->program == EFFICIENCY_ROOFSTEP)) return;
    table_note_printf(table,
                      "%s submits ops one by one: %.1f us each in forward, %.1f in backward, %.1f "
                      "in the optimizer, fitted to %d steps on the host of that %s; yours may be "
                      "slower",
                      all->program == EFFICIENCY_TORCH ? "PyTorch" : "the host",
                      1e6 * host->seconds[PHASE_FORWARD], 1e6 * host->seconds[PHASE_BACKWARD],
                      1e6 * host->seconds[PHASE_OPTIMIZER], host->n_sources,
                      all->efficiency->measured_on.gpu);
    if (all->program == EFFICIENCY_TORCH)
        table_note(table, "memory is that of this program's plan, op by op");
}

static void note_power(Table *table, const ForecastOutput *all)
{
    for (int d = 0; d < all->n_devices; d++) {
        if (all->devices[d].cells[0].watts > 0) {
            table_note(table, "J/token at most: all of the step at the power that the data sheet "
                              "allows the device");
            return;
        }
    }
}

static void fill_all(Table *table, const ForecastOutput *all)
{
    table->title = "Forecast of every step";
    TABLE_COLUMNS(table, 2, "device", "cell", "step (ms)", "90 % are between (ms)", "tokens/s",
                  "% of limit", "bound by", "J/token at most", "memory", "fits");
    if (all->price > 0) table_column(table, "tokens for 1", "", true);
    TABLE_SPARE(table, "J/token at most", "% of limit", "bound by", "tokens/s", "memory", "fits",
                "90 % are between (ms)");
    for (int d = 0; d < all->n_devices; d++) {
        for (int i = 0; i < all->sweep->n; i++) add_row(table, all, &all->devices[d], i);
    }
    planned_config_note(table, all->sweep, &all->sweep->configs[0], NULL, ATTENTION_AUTO);
    note_source(table, all->efficiency);
    note_devices(table, all);
    note_guessed(table, all);
    note_power(table, all);
    note_host(table, all);
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

static void fill_bounds(Table *table, const StepForecast *f)
{
    static const char *const what[EFFICIENCY_BOUNDS] = {
        [EFFICIENCY_COMPUTE] = "matrix multiplications and attention at their rate",
        [EFFICIENCY_MEMORY] = "bytes at the bandwidth of memory",
        [EFFICIENCY_START] = "ops that start and end",
        [EFFICIENCY_SUBMIT] = "ops that the host has not submitted yet",
    };
    table->title = "What bounds the step";
    TABLE_COLUMNS(table, 2, "bound by", "what the step waits for", "time (ms)", "share");
    TABLE_SPARE(table, "what the step waits for");
    for (int b = 0; b < EFFICIENCY_BOUNDS; b++) {
        if (!(f->bound[b] > 0)) continue;
        TABLE_CELLS(table, efficiency_bound_names[b], what[b],
                    human_number(1e3 * f->bound[b], 4).s);
        table_cell_printf(table, "%s %%", human_percent(f->bound[b], f->step).s);
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
    return step_forecast_tokens_per_s(a) > step_forecast_tokens_per_s(b);
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
                human_seconds(best->step).s,
                human_whole(round(step_forecast_tokens_per_s(best))).s);
    if (all->price > 0)
        text_printf(&text, ", %s tokens for 1",
                    human_si(3600 * step_forecast_tokens_per_s(best) / all->price).s);
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
        TRY(write_table(out, format, fill_bounds, only));
        TRY(write_table(out, format, fill_top, only));
    }
    return conclude(out, format, all);
}

Status forecast_output_write(Text *out, const char *format, const ForecastOutput *forecasts)
{
    return forecast_json_has_format(format) ? forecast_json_write(out, format, forecasts)
                                            : write_tables(out, format, forecasts);
}
