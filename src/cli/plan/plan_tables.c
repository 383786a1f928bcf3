#include "base/human.h"
#include "bench/record/cell_label.h"
#include "cli/other_machine.h"
#include "cli/plan/forecast_table.h"
#include "cli/plan/plan_conclusion.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/planned_config.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "1.80 GFLOP", "512 FLOP" */
static HumanText flop_count(double flops)
{
    HumanText text = human_si(flops);
    const size_t n = strlen(text.s);
    snprintf(text.s + n, sizeof text.s - n, "%sFLOP", flops < 999.5 ? " " : "");
    return text;
}

/* ---- one row per cell ---- */

static bool roof_known(const PlanCell *cells, int n)
{
    for (int i = 0; i < n; i++) {
        if (!cells[i].unsupported && !isnan(cells[i].roof_seconds)) return true;
    }
    return false;
}

static void summary_row(Table *table, const PlanCell *cell, const char *label, bool roof)
{
    if (cell->unsupported) {
        planned_config_unsupported(table, label, cell->message);
        return;
    }
    const PhaseCost *step = &cell->cost.step;
    TABLE_CELLS(table, label, human_count(cell->parameters).s, flop_count(step->flops).s,
                human_bytes(step->bytes).s, human_number(step_cost_intensity(step), 3).s,
                human_count(step->nodes).s, human_bytes((double)cell->memory.peak_live).s,
                human_bytes((double)cell->memory.need[cell->config->mode]).s);
    if (roof) table_cell(table, human_seconds(cell->roof_seconds).s);
}

/* Said once for each model. */
static void note_experts(Table *table, const PlanTables *tables)
{
    int64_t said = 0;
    for (int i = 0; i < tables->sweep->n; i++) {
        const PlanCell *cell = &tables->cells[i];
        const ModelSpec *m = &tables->sweep->configs[i].model;
        if (cell->unsupported || cell->active_parameters == cell->parameters) continue;
        if (cell->active_parameters != said)
            table_note_printf(table,
                              "%s: a token goes through %s of %s parameters, %s of %s experts in "
                              "each layer that has some",
                              *m->name ? m->name : m->size, human_count(cell->active_parameters).s,
                              human_count(cell->parameters).s, human_count(m->experts_per_token).s,
                              human_count(m->num_experts).s);
        said = cell->active_parameters;
    }
}

static void summary(Table *table, const PlanTables *tables)
{
    const Sweep *sweep = tables->sweep;
    const PlanCell *cells = tables->cells;
    const bool roof = roof_known(cells, sweep->n);
    table->title = "What a step takes";
    TABLE_COLUMNS(table, 1, "cell", "parameters", "FLOPs", "bytes", "FLOP/byte", "nodes", "peak",
                  "taken");
    if (roof) table_column(table, "least time", "", true);
    TABLE_SPARE(table, "nodes", "FLOP/byte", "bytes", "peak", "parameters");
    for (int i = 0; i < sweep->n; i++) {
        const CellLabel label = cell_label(&sweep->configs[i], sweep->varies);
        summary_row(table, &cells[i], label.s, roof);
    }
    const PlanCell *known = cells; /* the first that is supported, or the last */
    while (known < cells + sweep->n - 1 && known->unsupported) known++;
    planned_config_note(table, sweep, known->config, known->unsupported ? NULL : &known->placement,
                        known->attention);
    note_experts(table, tables);
    table_note(
        table,
        "FLOPs, bytes and nodes (launches) of one step; MFU counts only the FLOPs of matmuls "
        "and attention; peak: most bytes alive at once; taken: memory of the whole process, "
        "libraries included");
    if (roof) {
        const bool sheet = tables->machine && tables->machine->datasheet;
        table_note_printf(table, "least time: one step at the %s%s machine",
                          sheet ? "figures of its data sheet, on " : "limits measured on ",
                          tables->machine ? "that" : "this");
    }
    if (!known->unsupported) other_machine_note(table, &known->placement, tables->machine);
    if (!known->unsupported && known->n_fits == 0)
        table_note(table, "unknown device memory: --memory-limit SIZE shows what fits");
}

/* ---- one row per cell and limit ---- */

/* Which columns the cells need. */
typedef struct FitsColumns {
    bool blocks;  /* how many are recomputed */
    bool without; /* nothing is recomputed: how far --recompute block would get */
    bool advice;  /* what to change */
} FitsColumns;

static FitsColumns fits_columns(const Sweep *sweep, const PlanCell *cells)
{
    FitsColumns columns = {0};
    for (int i = 0; i < sweep->n; i++) {
        const PlanCell *cell = &cells[i];
        if (sweep->configs[i].recompute != CONFIG_RECOMPUTE_NONE) columns.blocks = true;
        if (cell->with_recomputed) columns.without = true;
        for (int k = 0; k < cell->n_fits; k++) columns.advice |= !cell->fits[k].fits;
    }
    return columns;
}

static void most_cells(Table *table, const FitLimit *fit)
{
    TABLE_CELLS(table, fit->most_batch ? human_count(fit->most_batch).s : "none",
                fit->most_ctx ? human_count(fit->most_ctx).s : "none");
}

static void fits_row(Table *table, const PlanCell *cell, int k, const char *label,
                     const char *whose, const FitsColumns *columns)
{
    const FitLimit *fit = &cell->fits[k];
    const HumanShortage s = human_shortage(fit->need, fit->limit);
    table_cell(table, label);
    table_cell_printf(table, "%s%s", human_bytes((double)fit->limit).s, whose);
    TABLE_CELLS(table, fit->fits ? human_shortage(fit->need, 0).need.s : s.need.s,
                fit->fits ? "yes" : "no", fit->fits ? "-" : s.lack.s,
                fit->any ? config_modes[fit->mode] : "none");
    if (columns->blocks)
        table_cell_printf(table, "%lld of %lld", (long long)fit->recomputed_blocks,
                          (long long)cell->config->model.num_layers);
    most_cells(table, fit);
    if (columns->without && cell->with_recomputed) most_cells(table, &cell->recomputed[k]);
    if (columns->without && !cell->with_recomputed) table_dashes(table, 2);
    if (columns->advice)
        table_cell(table, fit->fits            ? "-"
                          : *cell->advice[k].s ? cell->advice[k].s
                                               : "none of these");
}

static void fits(Table *table, const PlanTables *tables)
{
    const Sweep *sweep = tables->sweep;
    const PlanCell *cells = tables->cells;
    const FitsColumns columns = fits_columns(sweep, cells);
    const char *whose = tables->machine ? " (that machine)" : " (this machine)";
    table->title = "What fits";
    TABLE_COLUMNS(table, 1, "cell", "memory", "needs", "fits", "short by", "largest mode");
    if (columns.blocks) table_column(table, "recomputed blocks", "", true);
    TABLE_COLUMNS(table, 0, "largest batch", "largest ctx");
    if (columns.without) TABLE_COLUMNS(table, 0, "batch, recomputing", "ctx, recomputing");
    if (columns.advice) table_column(table, "fits with", "", false);
    TABLE_SPARE(table, "short by", "batch, recomputing", "ctx, recomputing", "recomputed blocks");
    for (int i = 0; i < sweep->n; i++) {
        const CellLabel label = cell_label(&sweep->configs[i], sweep->varies);
        for (int k = 0; !cells[i].unsupported && k < cells[i].n_fits; k++) {
            fits_row(table, &cells[i], k, label.s, k == 0 && cells[i].whole ? whose : "", &columns);
        }
    }
    table_note(table,
               "largest mode that fits, up to --mode; largest batch at this ctx and largest ctx at "
               "this batch, for --mode");
    if (columns.without)
        table_note(table, "recomputing: the largest of both with --recompute block");
    if (columns.advice)
        table_note(table, "fits with: each alone is enough, or those that 'with' joins together; "
                          "tried are recomputation, bf16, the batch in micro-batches, a smaller "
                          "batch and a shorter context");
}

/* ---- a single cell ---- */

static void cost_row(Table *table, const char *name, const PhaseCost *cost)
{
    TABLE_CELLS(table, name, human_count(cost->nodes).s, flop_count(cost->flops).s,
                flop_count(cost->matmul_flops).s, human_bytes(cost->bytes).s,
                human_number(step_cost_intensity(cost), 3).s);
}

static void cost_by_phase(Table *table, const PlanCell *cell)
{
    table->title = "FLOPs and bytes of each phase";
    TABLE_COLUMNS(table, 1, "phase", "nodes", "FLOPs", "in matmuls", "bytes", "FLOP/byte");
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        const PhaseCost *cost = &cell->cost.phase[p];
        if (cost->nodes) cost_row(table, plan_phase_name((Phase)p), cost);
    }
    cost_row(table, "step", &cell->cost.step);
    table_note(
        table,
        "FLOPs: of every node; in matmuls: only of matrix multiplications and attention, which "
        "bench counts for TFLOP/s and MFU");
    table_note(table, "bytes: each operand of each node read once, each result written once");
}

static void cost_by_part(Table *table, const PlanCell *cell)
{
    const PhaseCost *step = &cell->cost.step;
    table->title = "FLOPs and bytes of each part";
    TABLE_COLUMNS(table, 1, "part", "forward FLOPs", "backward FLOPs", "share of FLOPs", "bytes",
                  "share of bytes");
    for (int p = 0; p < PLAN_PART_COUNT; p++) {
        const PhaseCost *phases = cell->parts.phase[p], *all = &cell->parts.step[p];
        if (all->nodes == 0) continue;
        TABLE_CELLS(table, plan_parts_name((PlanPart)p), flop_count(phases[PHASE_FORWARD].flops).s,
                    flop_count(phases[PHASE_BACKWARD].flops).s);
        table_cell_printf(table, "%.1f %%", 100 * all->flops / step->flops);
        table_cell(table, human_bytes(all->bytes).s);
        table_cell_printf(table, "%.1f %%", 100 * all->bytes / step->bytes);
    }
}

static void memory_row(Table *table, const char *name, size_t bytes, size_t of)
{
    TABLE_CELLS(table, name, human_bytes((double)bytes).s);
    table_cell_printf(table, "%.1f %%", 100 * (double)bytes / (double)of);
}

static void memory_by_kind(Table *table, const PlanCell *cell)
{
    const PlanMemory *m = &cell->memory;
    const size_t taken = m->need[cell->config->mode];
    table->title = "Memory by use";
    TABLE_COLUMNS(table, 1, "memory", "size", "share of taken");
    for (int k = 0; k < TK_COUNT; k++) {
        if (m->kind[k]) memory_row(table, plan_kind_name((TensorKind)k), m->kind[k], taken);
    }
    memory_row(table, "peak", m->peak_live, taken);
    memory_row(table, "gaps", m->planned - m->peak_live, taken);
    memory_row(table, "libraries and stacks", m->allowance, taken);
    memory_row(table, "the program", m->resident, taken);
    memory_row(table, "taken", taken, taken);
    table_note_printf(table, "the peak is in %s, at %s (%s)", plan_phase_name(m->peak_phase),
                      m->peak_scope, plan_op_name(m->peak_op));
    planned_config_head_note(table, &cell->head);
    planned_config_fp8_note(table, cell->fp8_left);
}

static void kept_row(Table *table, const char *name, size_t bf16, size_t fp8)
{
    const double more = (double)fp8 - (double)bf16;
    TABLE_CELLS(table, name, human_bytes((double)bf16).s, human_bytes((double)fp8).s);
    table_cell_printf(table, "%s%s",
                      more > 0   ? "+"
                      : more < 0 ? "-"
                                 : "",
                      human_bytes(fabs(more)).s);
}

static void memory_of_fp8(Table *table, const PlanCell *cell)
{
    const Fp8Kept *bf16 = &cell->fp8_memory.bf16, *fp8 = &cell->fp8_memory.fp8;
    TABLE_COLUMNS(table, 1, "kept for backward", "in bf16", "in fp8", "change");
    kept_row(table, "activations", bf16->activations, fp8->activations);
    kept_row(table, "8-bit weights", bf16->weights, fp8->weights);
    kept_row(table, "both", bf16->activations + bf16->weights, fp8->activations + fp8->weights);
    kept_row(table, "planned for the whole step", bf16->planned, fp8->planned);
    table_note(table, "weights are quantized in forward, in both layouts; the transposed one waits "
                      "for the gradients");
}

/* ---- all tables ---- */

Status plan_tables_write(Text *out, const char *format, const PlanTables *tables)
{
    const PlanCell *cells = tables->cells;
    Table table = {0};
    summary(&table, tables);
    TRY(table_write_next(out, format, &table));
    if (forecast_table_wanted(tables)) {
        forecast_table_fill(&table, tables);
        TRY(table_write_next(out, format, &table));
    }
    if (tables->sweep->n == 1 && !cells[0].unsupported) {
        cost_by_phase(&table, &cells[0]);
        TRY(table_write_next(out, format, &table));
        cost_by_part(&table, &cells[0]);
        TRY(table_write_next(out, format, &table));
        memory_by_kind(&table, &cells[0]);
        TRY(table_write_next(out, format, &table));
        if (cells[0].fp8_memory.known) {
            memory_of_fp8(&table, &cells[0]);
            TRY(table_write_next(out, format, &table));
        }
    }
    fits(&table, tables);
    TRY(table_write_next(out, format, &table));
    CLEANUP(text_free) Text conclusion = {0};
    plan_conclusion_put(&conclusion, tables);
    return table_write_conclusion(out, format, &conclusion);
}
