#include "cli/commands/bench_dry_run.h"

#include "base/human.h"
#include "bench/cell/supported.h"
#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "bench/record/cell_label.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/plan/planned_config.h"
#include "model/step_cost.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>

typedef struct Total {
    double seconds; /* NAN when one cell's time is unknown */
    int cells, kept, unsupported;
    char why[512];       /* the first cell is unsupported */
    Placement placement; /* of the last supported cell */
} Total;

/* The row describes the mode that would be measured. */
static void fit_row(Table *table, const char *label, const Config *config, const Fit *fit,
                    double seconds)
{
    const bool whole = fit->fits && fit->mode == config->mode;
    TABLE_CELLS(table, label, fit->fits ? config_modes[fit->mode] : "nothing",
                fit->model.n_elements ? human_count(fit->model.n_elements).s : "-",
                fit->fits ? human_bytes((double)fit->need[fit->mode]).s : "-");
    table_cell_printf(table, fit->fits ? "%sFLOP" : "-",
                      human_si((double)plan_ranks(&fit->model.plan) *
                               step_cost_of(&fit->model.plan).step.matmul_flops)
                          .s);
    table_cell(table, !fit->fits ? "-" : isnan(seconds) ? "unknown" : human_eta(seconds).s);
    if (whole) return;
    Text note = {0};
    text_printf(&note, "%s: %s %s", label, config_modes[config->mode],
                fit_shortage(fit, config->mode).s);
    if (!fit->fits && config->mode != MODE_FWD)
        text_printf(&note, "; %s %s", config_modes[MODE_FWD], fit_shortage(fit, MODE_FWD).s);
    table_note_text(table, &note);
}

static Status add_cell(Table *table, const Config *config, const Limits *machine, const char *label,
                       Total *total)
{
    CLEANUP(fit_free) Fit fit = {0};
    Placement placement;
    Status status =
        machine ? placement_on(config, machine, &placement) : placement_find(config, &placement);
    if (status == ST_OK) status = placement_check_timed(config, &placement);
    if (status == ST_OK) status = fit_make_on(&fit, config, &placement, machine);
    if (status == ST_UNSUPPORTED) {
        if (total->unsupported++ == 0)
            snprintf(total->why, sizeof total->why, "%s", status_message());
        planned_config_unsupported(table, label, status_message());
        status = ST_OK;
    } else if (status == ST_OK) {
        const TimeEstimate estimate =
            time_estimate_roofline(config, &placement, machine, &fit.model.plan);
        const double seconds = time_estimate_from_roofline(&estimate, config);
        fit_row(table, label, config, &fit, seconds);
        if (fit.fits) total->seconds += seconds;
        total->placement = placement;
    }
    return status;
}

static void put_conclusion(Text *out, const Settings *settings, const Total *total)
{
    text_printf(out, "Dry run: %d cell%s would run", total->cells, total->cells == 1 ? "" : "s");
    if (total->kept)
        text_printf(out, ", %d finished in %s %s skipped", total->kept, settings->resume,
                    total->kept == 1 ? "is" : "are");
    text_printf(out, "; expected time %s.",
                isnan(total->seconds) ? "unknown until 'roofstep limits' has measured this machine"
                                      : human_eta(total->seconds).s);
}

static Status print(Table *table, const Settings *settings, const Total *total)
{
    CLEANUP(text_free) Text text = {0}, conclusion = {0};
    TRY(table_write_next(&text, "md", table));
    put_conclusion(&conclusion, settings, total);
    TRY(table_write_conclusion(&text, "md", &conclusion));
    return output_print(&text);
}

static bool is_kept(const Config *config, const RecordSet *known)
{
    const Record *record = record_set_find_config(known, config);
    return record && cell_record_is_final(record);
}

static Status add_cells(Table *table, const Sweep *sweep, const Limits *machine,
                        const RecordSet *known, Total *total)
{
    for (int i = 0; i < sweep->n; i++) {
        const Config *config = &sweep->configs[i];
        const bool kept = is_kept(config, known);
        *(kept ? &total->kept : &total->cells) += 1;
        const CellLabel label = cell_label_among(config, sweep->configs, sweep->n, sweep->varies);
        if (!kept) TRY(add_cell(table, config, machine, label.s, total));
    }
    return ST_OK;
}

Status bench_dry_run(const Settings *settings, const Sweep *sweep, const RecordSet *known)
{
    if (option_given(settings, OPTION_LIST(OPTION_FORMAT, OPTION_OUT, OPTION_OUT_JSON))) {
        return FAIL(ST_USAGE, "--dry-run writes no results: leave out --format and --out");
    }
    Table table = {0};
    Total total = {.placement.here = true};
    Limits limits;
    const Limits *machine;
    TRY(other_machine_read(settings, &limits, &machine));
    table.title = "What would run";
    TABLE_COLUMNS(&table, 2, "cell", "measured", "parameters", "memory", "FLOPs a step",
                  "expected time");
    Status status = add_cells(&table, sweep, machine, known, &total);
    if (status == ST_OK && total.unsupported == sweep->n)
        status = supported_none(sweep->n, total.why);
    other_machine_note(&table, &total.placement, machine);
    if (status == ST_OK) status = print(&table, settings, &total);
    table_free(&table);
    return status;
}
