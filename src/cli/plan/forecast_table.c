#include "cli/plan/forecast_table.h"

#include "base/human.h"
#include "bench/record/cell_label.h"
#include "report/format/table.h"

#include <string.h>

static bool is_forecast(const PlanCell *cell)
{
    return !cell->unsupported && !*cell->forecast.why && cell->forecast.times.step > 0;
}

bool forecast_table_wanted(const PlanTables *tables)
{
    for (int i = 0; i < tables->sweep->n; i++) {
        if (tables->sweep->configs[i].ranks > 1) return true;
    }
    return false;
}

/* Ranks and how they share a step have columns of their own. */
static Sweep without_ranks(const Sweep *sweep)
{
    Sweep rest = *sweep;
    rest.varies[OPTION_RANKS] = rest.varies[OPTION_PARALLEL] = false;
    return rest;
}

static bool varies(const Sweep *sweep)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (sweep->varies[id]) return true;
    }
    return false;
}

static void put_row(Table *table, const PlanCell *cell)
{
    const Config *config = cell->config;
    const CommForecast *f = &cell->forecast;
    table_cell(table, human_count(config->ranks).s);
    table_cell(table, config->ranks > 1 ? config_parallels[config->parallel] : "-");
    table_cell(table, human_bytes((double)cell->memory.planned).s);
    table_cell(table, human_bytes(cell->cost.step.wire).s);
    if (!is_forecast(cell)) {
        table_dashes(table, 4);
        return;
    }
    table_cell(table, human_number(1e3 * f->times.communication, 4).s);
    table_cell(table, human_number(1e3 * f->times.exposed, 4).s);
    table_cell(table, human_number(1e3 * f->times.step, 4).s);
    table_cell_printf(table, "%.1f %%", 100 * f->efficiency);
}

/* Each reason once. */
static void put_reasons(Table *table, const PlanTables *tables)
{
    const PlanCell *cells = tables->cells;
    for (int i = 0; i < tables->sweep->n; i++) {
        bool told = cells[i].unsupported || !*cells[i].forecast.why;
        for (int k = 0; k < i; k++)
            told |= strcmp(cells[k].forecast.why, cells[i].forecast.why) == 0;
        if (!told) table_note_printf(table, "no forecast: %s", cells[i].forecast.why);
    }
}

static void put_notes(Table *table, const PlanTables *tables)
{
    const PlanCell *known = NULL;
    for (int i = 0; i < tables->sweep->n && !known; i++) {
        if (is_forecast(&tables->cells[i])) known = &tables->cells[i];
    }
    if (known) {
        table_note_printf(table,
                          "step: forecast from %s of one rank and the time of rings of messages "
                          "over the links, in the order of the plan; exposed: of communication "
                          "what no work hides; efficiency: the step of one rank by that of all",
                          known->forecast.measured ? "the measured step" : "the least time");
    }
    table_note(table, "memory of one rank, by its plan; sent: by one rank in a step");
    put_reasons(table, tables);
}

void forecast_table_fill(Table *table, const PlanTables *tables)
{
    const Sweep rest = without_ranks(tables->sweep);
    const bool labels = varies(&rest);
    if (labels) table_column(table, "cell", "", false);
    table_column(table, "ranks", "", true);
    table_column(table, "parallel", "", false);
    table->title = "Forecast of several ranks";
    TABLE_COLUMNS(table, 0, "memory", "sent", "communication (ms)", "exposed (ms)", "step (ms)",
                  "efficiency");
    TABLE_SPARE(table, "sent", "communication (ms)", "exposed (ms)");
    for (int i = 0; i < tables->sweep->n; i++) {
        const PlanCell *cell = &tables->cells[i];
        if (cell->unsupported) continue;
        if (labels) table_cell(table, cell_label(cell->config, rest.varies).s);
        put_row(table, cell);
    }
    put_notes(table, tables);
}

Status forecast_table_json(json_t *json, const PlanCell *cell)
{
    const CommForecast *f = &cell->forecast;
    if (*f->why) return record_put_text(json, "forecast.message", f->why);
    if (!is_forecast(cell)) return ST_OK;
    TRY(record_put_text(json, "forecast.from", f->measured ? "measured" : "limits"));
    TRY(record_put_number(json, "forecast.one_rank_step_ms", 1e3 * f->single));
    TRY(record_put_number(json, "forecast.communication_ms", 1e3 * f->times.communication));
    TRY(record_put_number(json, "forecast.exposed_ms", 1e3 * f->times.exposed));
    TRY(record_put_number(json, "forecast.step_ms", 1e3 * f->times.step));
    return record_put_number(json, "forecast.efficiency", f->efficiency);
}
