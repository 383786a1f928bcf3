#include "report/profile/profile_tables.h"

#include "base/human.h"
#include "bench/record/profile_overhead.h"
#include "report/findings/findings.h"
#include "report/profile/profile_name_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a whole: medians would not add up. */
static const char adds_up[] =
    "times a step are means over the profiled steps, so that parts add up";

/* ---- phases, with and without the profiler ---- */

/* In no op: on a CPU the loop itself, on a GPU launching, waiting and gaps. */
static double exclusive(const ProfileView *v, const ViewPhase *at)
{
    return at->wall.total - (v->gpu ? at->busy : at->attributed);
}

static void overhead_cell(Table *table, const ProfileView *v, Phase phase)
{
    const ProfileOverhead overhead = profile_overhead(v, phase);
    if (isnan(overhead.percent))
        table_cell(table, "-");
    else if (profile_overhead_is_noise(&overhead))
        table_cell_printf(table, "within noise (%+.1f)", overhead.percent);
    else
        table_cell_printf(table, "%+.1f", overhead.percent);
}

/* In a sentence, for the step. */
static void overhead_note(Table *table, const ProfileView *v)
{
    const ProfileOverhead overhead = profile_overhead(v, PHASE_COUNT);
    Text text = {0};
    if (isnan(overhead.percent)) return;
    text_puts(&text, "profiling overhead: ");
    profile_overhead_text(&overhead, &text);
    table_note_text(table, &text);
}

static void phase_row(Table *table, const ProfileView *v, Phase phase)
{
    const ViewPhase *at = &v->phases[phase];
    int nodes = 0;
    for (int i = 0; i < v->n_ops; i++) nodes += v->ops[i].phase == phase ? v->ops[i].nodes : 0;
    table_cell(table, profile_cells_phase(phase));
    profile_cells_ms(table, at->unprofiled);
    profile_cells_ms(table, profile_view_middle(v, &at->wall));
    overhead_cell(table, v, phase);
    profile_cells_ms(table, at->wall.total);
    profile_cells_ms(table, exclusive(v, at));
    profile_cells_percent(table, at->wall.total, v->step.total);
    table_cell(table, human_count(nodes).s);
    table_cell(table, human_count(v->gpu ? at->kernels / v->steps : nodes).s);
}

static void step_rows(Table *table, const ProfileView *v)
{
    double phases = 0;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) phases += v->phases[p].wall.total;
    }
    table_cell(table, "between phases");
    table_dashes(table, 3);
    profile_cells_ms(table, v->step.total - phases);
    profile_cells_ms(table, v->step.total - phases);
    profile_cells_percent(table, v->step.total - phases, v->step.total);
    table_dashes(table, 2);
    table_cell(table, "step");
    profile_cells_ms(table, profile_view_unprofiled(v, "step"));
    profile_cells_ms(table, profile_view_middle(v, &v->step));
    overhead_cell(table, v, PHASE_COUNT);
    profile_cells_ms(table, v->step.total);
    table_cell(table, "-");
    profile_cells_percent(table, v->step.total, v->step.total);
    table_dashes(table, 2);
}

static void phases(Table *table, const ProfileView *v, const RecordSet *set)
{
    TABLE_COLUMNS(table, 1, "phase", "unprofiled (ms)", "profiled (ms)", "profiling overhead (%)",
                  "inclusive, all steps (ms)", "exclusive, all steps (ms)", "of step (%)", "nodes",
                  v->gpu ? "kernels" : "ops run");
    TABLE_SPARE(table, "nodes", "inclusive, all steps (ms)", "ops run", "kernels");
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) phase_row(table, v, (Phase)p);
    }
    step_rows(table, v);
    RowWarnings warnings;
    row_warnings_find(&warnings, set);
    warnings.unmarked = true;
    profile_cells_notes(table, set, &warnings);
    overhead_note(table, v);
    table_note_printf(
        table,
        v->gpu ? "%s of the steps by the host's clock; exclusive: the GPU did nothing; nodes and "
                 "kernels of one step"
               : "%s of the steps; exclusive: between the ops; nodes and ops of one step",
        profile_cells_stat(v->record));
    if (v->gpu)
        table_note(
            table,
            "the unprofiled step runs without a wait between its phases; the profiled one waits "
            "after each",
            NULL);
}

/* ---- attention ---- */

/* Is it an op of that part of attention (NULL: of any)? */
static bool is_part(const ViewOp *op, Phase phase, const char *part)
{
    return op->phase == phase && op->part && (!part || strcmp(op->part, part) == 0);
}

static double part_time(const ProfileView *v, Phase phase, const char *part)
{
    double total = 0;
    for (int i = 0; i < v->n_ops; i++)
        total += is_part(&v->ops[i], phase, part) ? v->ops[i].time.total : 0;
    return total;
}

static double part_calls(const ProfileView *v, const char *part)
{
    double calls = 0;
    for (int i = 0; i < v->n_ops; i++)
        calls += is_part(&v->ops[i], PHASE_FORWARD, part) ? profile_view_calls(v, i) : 0;
    return calls;
}

static void part_row(Table *table, const ProfileView *v, const char *label, const char *part)
{
    const double forward = part_time(v, PHASE_FORWARD, part), steps = (double)v->steps;
    const double backward = part_time(v, PHASE_BACKWARD, part);
    table_cell(table, label);
    table_cell(table, human_mean_count(part_calls(v, part)).s);
    profile_cells_ms(table, forward);
    profile_cells_ms(table, forward / steps);
    profile_cells_percent(table, forward, part_time(v, PHASE_FORWARD, NULL));
    profile_cells_percent(table, forward, v->phases[PHASE_FORWARD].wall.total);
    profile_cells_ms(table, backward / steps);
    profile_cells_percent(table, backward, part_time(v, PHASE_BACKWARD, NULL));
}

/* A row that is no part of attention: the rest of the forward pass. */
static void rest_row(Table *table, const ProfileView *v, const char *label, double total)
{
    table_cell(table, label);
    table_cell(table, "-");
    profile_cells_ms(table, total);
    profile_cells_ms(table, total / (double)v->steps);
    table_cell(table, "-");
    profile_cells_percent(table, total, v->phases[PHASE_FORWARD].wall.total);
    table_dashes(table, 2);
}

static void attention(Table *table, const ProfileView *v)
{
    static const char *const parts[] = {
#define PART(id, name) name,
#include "prof/parts.def"
    };
    const ViewPhase *forward = &v->phases[PHASE_FORWARD];
    const double all = part_time(v, PHASE_FORWARD, NULL);
    if (!forward->there || !(all > 0)) return;
    TABLE_COLUMNS(table, 1, "attention", v->gpu ? "kernels a step" : "ops a step",
                  "forward, all steps (ms)", "forward a step (ms)", "of attention (%)",
                  "of forward (%)", "backward a step (ms)", "of its backward (%)");
    TABLE_SPARE(table, "forward, all steps (ms)", "ops a step", "kernels a step", "of forward (%)");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (part_time(v, PHASE_FORWARD, parts[i]) > 0) part_row(table, v, parts[i], parts[i]);
    }
    part_row(table, v, "attention", NULL);
    rest_row(table, v, "other ops of the forward pass", forward->attributed - all);
    rest_row(table, v, v->gpu ? "no kernel running" : "between the ops",
             forward->wall.total - (v->gpu ? forward->work : forward->attributed));
    rest_row(table, v, "forward", forward->wall.total);
    table_note(table, adds_up, NULL);
    if (part_time(v, PHASE_FORWARD, "residual") == 0)
        table_note(table,
                   "the norm that follows adds the residual: its time is in the other ops of the "
                   "forward pass",
                   NULL);
    Text softmax = {0};
    findings_softmax(&softmax, v);
    table_note_text(table, &softmax);
}

/* ---- categories ---- */

static double category_time(const ProfileView *v, int phase, OpCategory category)
{
    double total = 0;
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if ((phase == PHASE_COUNT || (int)op->phase == phase) && op->category == category)
            total += op->time.total;
    }
    return total;
}

static void category_row(Table *table, const ProfileView *v, const char *label, double forward,
                         double backward, double step, double all_forward, double all)
{
    const double steps = (double)v->steps;
    table_cell(table, label);
    profile_cells_ms(table, forward / steps);
    profile_cells_percent(table, forward, all_forward);
    profile_cells_ms(table, backward / steps);
    profile_cells_ms(table, step / steps);
    profile_cells_percent(table, step, all);
    if (all_forward > 0 && all > 0)
        table_cell_printf(table, "%+.1f", 100 * (step / all - forward / all_forward));
    else
        table_cell(table, "-");
}

static void categories(Table *table, const ProfileView *v)
{
    const ViewPhase *p = v->phases;
    const double all_forward = p[PHASE_FORWARD].attributed;
    const double all = all_forward + p[PHASE_BACKWARD].attributed + p[PHASE_OPTIMIZER].attributed;
    double forward_left = all_forward, backward_left = p[PHASE_BACKWARD].attributed, left = all;
    TABLE_COLUMNS(table, 1, "category", "forward a step (ms)", "of forward (%)",
                  "backward a step (ms)", "whole step (ms)", "of step (%)",
                  "change of share (points)");
    TABLE_SPARE(table, "backward a step (ms)");
    for (OpCategory c = 0; c < CATEGORY_COUNT; c++) {
        const double forward = category_time(v, PHASE_FORWARD, c);
        const double backward = category_time(v, PHASE_BACKWARD, c);
        const double step = category_time(v, PHASE_COUNT, c);
        forward_left -= forward;
        backward_left -= backward;
        left -= step;
        if (step > 0)
            category_row(table, v, plan_category_name(c), forward, backward, step, all_forward,
                         all);
    }
    if (left > 1e-6 * all)
        category_row(table, v, "other", forward_left, backward_left, left, all_forward, all);
    category_row(table, v, "all ops", all_forward, p[PHASE_BACKWARD].attributed, all, all_forward,
                 all);
    if (v->gpu) table_note(table, "time of kernels", NULL);
    table_note(table, adds_up, NULL);
    if (category_time(v, PHASE_COUNT, CATEGORY_softmax) > 0)
        table_note(table, "softmax includes the primitives an eager softmax is made of", NULL);
}

/* ---- ops against the limits ---- */

static int by_time(const void *a, const void *b)
{
    const ViewOp *x = *(const ViewOp *const *)a, *y = *(const ViewOp *const *)b;
    return (x->time.total < y->time.total) - (x->time.total > y->time.total);
}

static void roof_cells(Table *table, const ProfileView *v, const ViewOp *op, double seconds)
{
    const double compute = plan_category_multiplies(op->category) ? op->flops / v->limit_flops : 0;
    const double memory = op->bytes / v->limit_bandwidth;
    if (isnan(compute) || isnan(memory)) {
        table_dashes(table, 2);
        return;
    }
    table_cell_printf(table, "%.1f", 100 * fmax(compute, memory) / seconds);
    table_cell(table, compute > memory ? "compute" : "memory");
}

static void op_row(Table *table, const ProfileTables *how, const ProfileView *v, const ViewOp *op)
{
    const double seconds = op->time.total * 1e-9 / (double)v->steps;
    table_cell(table, profile_cells_phase(op->phase));
    table_cell_printf(table, "%s %s", op->scope, op->op);
    table_cell(table, op->by);
    table_cell(table, human_count(op->nodes).s);
    table_cell(table, op->flops > 0 ? human_si(op->flops).s : "-");
    table_cell(table, human_bytes(op->bytes).s);
    table_cell(table, human_number(seconds * 1e3, 4).s);
    table_cell(table, op->flops > 0 ? human_number(op->flops / seconds * 1e-12, 4).s : "-");
    table_cell(table, human_number(op->bytes / seconds * 1e-9, 4).s);
    roof_cells(table, v, op, seconds);
    if (!how->source) return;
    table_cell(table, isnan(op->allocated) ? "-" : human_bytes(op->allocated).s);
    table_cell_printf(table, "%s:%d", op->source, op->line);
}

static void ops(Table *table, const ProfileTables *how, const ProfileView *v)
{
    const ViewOp **list = malloc(((size_t)v->n_ops + 1) * sizeof *list);
    int n = 0;
    table->failed = table->failed || !list;
    if (!list) return;
    TABLE_COLUMNS(table, 3, "in", "op", "as", "nodes", "FLOPs a step", "bytes a step", "ms a step",
                  "TFLOP/s", "GB/s", "of limit (%)");
    TABLE_COLUMNS(table, 1, "bound by");
    TABLE_SPARE(table, "FLOPs a step", "bytes a step", "nodes", "as");
    if (how->source) {
        table_column(table, "allocates a step", "", true);
        table_column(table, "source", "", false);
    }
    for (int i = 0; i < v->n_ops; i++) {
        if (v->ops[i].time.n > 0) list[n++] = &v->ops[i];
    }
    qsort(list, (size_t)n, sizeof *list, by_time);
    for (int i = 0; i < n && i < 2 * how->top; i++) op_row(table, how, v, list[i]);
    free(list);
    if (isnan(v->limit_flops)) {
        table_note(table, "for the share of this machine's limit run 'roofstep limits' once", NULL);
    } else {
        table_note(
            table,
            "% of limit = shortest possible time at the measured rates / actual time; what stays "
            "in a cache can be above 100 %",
            NULL);
    }
}

/* ---- all of it ---- */

static Status write_one(Text *out, const ProfileTables *how, const RecordSet *set,
                        const ProfileView *v)
{
    Table table = {0};
    phases(&table, v, set);
    TRY(table_write_next(out, how->format, &table));
    attention(&table, v);
    TRY(table_write_next(out, how->format, &table));
    categories(&table, v);
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_name_tables_write(out, how, v));
    ops(&table, how, v);
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_name_tables_memory(out, how, v));
    return profile_device_tables_write(out, how, v);
}

Status profile_tables_write(Text *out, const ProfileTables *how, const RecordSet *set)
{
    if (record_set_size(set) != 1 || profile_cells_failed(record_set_at(set, 0)))
        return profile_sweep_tables_write(out, how, set);
    CLEANUP(profile_view_free) ProfileView view = {0};
    TRY(profile_view_make(&view, record_set_at(set, 0)));
    return write_one(out, how, set, &view);
}
