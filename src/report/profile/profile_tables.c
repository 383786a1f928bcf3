#include "report/profile/profile_tables.h"

#include "base/human.h"
#include "bench/record/profile_overhead.h"
#include "report/findings/findings.h"
#include "report/format/table_write.h"
#include "report/profile/profile_device_tables.h"
#include "report/profile/profile_kernel_tables.h"
#include "report/profile/profile_memory_tables.h"
#include "report/profile/profile_name_tables.h"
#include "report/profile/profile_sweep_tables.h"
#include "report/records/column.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <string.h>

/* ---- what all of them use ---- */

void profile_tables_columns(Table *table, const char *const *labels, int n, int n_left)
{
    for (int i = 0; i < n; i++) table_column(table, labels[i], "", i >= n_left);
}

void profile_tables_ms(Table *table, double ns)
{
    table_cell(table, human_number(ns * 1e-6, 4).s);
}

void profile_tables_percent(Table *table, double part, double whole)
{
    if (!(fabs(whole) > 0) || isnan(part))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%.1f", 100 * part / whole);
}

const char *profile_tables_phase(Phase phase)
{
    static const char *const names[PHASE_COUNT] = {[PHASE_FORWARD] = "FORWARD",
                                                   [PHASE_BACKWARD] = "BACKWARD",
                                                   [PHASE_OPTIMIZER] = "OPTIMIZER"};
    return names[phase];
}

const char *profile_tables_stat(const Record *record)
{
    const char *stat = profile_view_stat(record);
    return strcmp(stat, "median") == 0 ? "medians" : strcmp(stat, "min") == 0 ? "minima" : "means";
}

Status profile_tables_put(Text *out, const ProfileTables *how, Table *table)
{
    return table_write_next(out, how->format, table);
}

bool profile_tables_failed(const Record *record)
{
    return !json_is_object(json_object_get(record, "profile"));
}

void profile_tables_notes(Table *table, const RecordSet *set, const RowWarnings *warnings)
{
    bool shown[TABLE_MAX_COLUMNS] = {0};
    for (int c = 0; c < column_count; c++) shown[c] = column_shown(&column_list[c], set, false);
    record_notes_common(table, set);
    record_notes_rows(table, set, shown, warnings);
}

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
    text_puts(&text, "profiling overhead: ");
    profile_overhead_text(&overhead, &text);
    if (!isnan(overhead.percent)) table_note(table, text_str(&text), NULL);
    table->failed = table->failed || text.failed;
    text_free(&text);
}

static void phase_row(Table *table, const ProfileView *v, Phase phase)
{
    const ViewPhase *at = &v->phases[phase];
    int nodes = 0;
    for (int i = 0; i < v->n_ops; i++) nodes += v->ops[i].phase == phase ? v->ops[i].nodes : 0;
    table_cell(table, profile_tables_phase(phase));
    profile_tables_ms(table, at->unprofiled);
    profile_tables_ms(table, profile_view_middle(v, &at->wall));
    overhead_cell(table, v, phase);
    profile_tables_ms(table, at->wall.total);
    profile_tables_ms(table, exclusive(v, at));
    profile_tables_percent(table, at->wall.total, v->step.total);
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
    for (int i = 0; i < 3; i++) table_cell(table, "-");
    profile_tables_ms(table, v->step.total - phases);
    profile_tables_ms(table, v->step.total - phases);
    profile_tables_percent(table, v->step.total - phases, v->step.total);
    for (int i = 0; i < 2; i++) table_cell(table, "-");
    table_cell(table, "step");
    profile_tables_ms(table, profile_view_unprofiled(v, "step"));
    profile_tables_ms(table, profile_view_middle(v, &v->step));
    overhead_cell(table, v, PHASE_COUNT);
    profile_tables_ms(table, v->step.total);
    table_cell(table, "-");
    profile_tables_percent(table, v->step.total, v->step.total);
    for (int i = 0; i < 2; i++) table_cell(table, "-");
}

static void phases(Table *table, const ProfileView *v, const RecordSet *set)
{
    PROFILE_COLUMNS(table, 1, "phase", "unprofiled (ms)", "profiled (ms)", "profiling overhead (%)",
                    "inclusive, all steps (ms)", "exclusive, all steps (ms)", "of step (%)",
                    "nodes", v->gpu ? "kernels" : "ops run");
    TABLE_SPARE(table, "nodes", "inclusive, all steps (ms)", "ops run", "kernels");
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) phase_row(table, v, (Phase)p);
    }
    step_rows(table, v);
    RowWarnings warnings;
    row_warnings_find(&warnings, set);
    warnings.unmarked = true;
    profile_tables_notes(table, set, &warnings);
    overhead_note(table, v);
    table_note_printf(
        table,
        v->gpu ? "%s of the steps by the host's clock; exclusive: the GPU did nothing; nodes and "
                 "kernels of one step"
               : "%s of the steps; exclusive: between the ops; nodes and ops of one step",
        profile_tables_stat(v->record));
    if (v->gpu)
        table_note(
            table,
            "the unprofiled step runs without a wait between its phases; the profiled one waits "
            "after each",
            NULL);
}

/* ---- attention ---- */

static double part_time(const ProfileView *v, Phase phase, const char *part)
{
    double total = 0;
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if (op->phase == phase && op->part && (!part || strcmp(op->part, part) == 0))
            total += op->time.total;
    }
    return total;
}

static double part_calls(const ProfileView *v, const char *part)
{
    double calls = 0;
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if (op->phase == PHASE_FORWARD && op->part && (!part || strcmp(op->part, part) == 0))
            calls += profile_view_calls(v, i);
    }
    return calls;
}

static void part_row(Table *table, const ProfileView *v, const char *label, const char *part)
{
    const double forward = part_time(v, PHASE_FORWARD, part), steps = (double)v->steps;
    const double backward = part_time(v, PHASE_BACKWARD, part);
    table_cell(table, label);
    table_cell(table, human_mean_count(part_calls(v, part)).s);
    profile_tables_ms(table, forward);
    profile_tables_ms(table, forward / steps);
    profile_tables_percent(table, forward, part_time(v, PHASE_FORWARD, NULL));
    profile_tables_percent(table, forward, v->phases[PHASE_FORWARD].wall.total);
    profile_tables_ms(table, backward / steps);
    profile_tables_percent(table, backward, part_time(v, PHASE_BACKWARD, NULL));
}

/* A row that is no part of attention: the rest of the forward pass. */
static void rest_row(Table *table, const ProfileView *v, const char *label, double total)
{
    table_cell(table, label);
    table_cell(table, "-");
    profile_tables_ms(table, total);
    profile_tables_ms(table, total / (double)v->steps);
    table_cell(table, "-");
    profile_tables_percent(table, total, v->phases[PHASE_FORWARD].wall.total);
    for (int i = 0; i < 2; i++) table_cell(table, "-");
}

static void softmax_note(Table *table, const ProfileView *v)
{
    Text text = {0};
    findings_softmax(&text, v);
    if (text.n) table_note(table, text_str(&text), NULL);
    table->failed = table->failed || text.failed;
    text_free(&text);
}

static void attention(Table *table, const ProfileView *v)
{
    static const char *const parts[] = {
#define PART(id, name) name,
#include "prof/parts.def"
#undef PART
    };
    const ViewPhase *forward = &v->phases[PHASE_FORWARD];
    const double all = part_time(v, PHASE_FORWARD, NULL);
    if (!forward->there || !(all > 0)) return;
    PROFILE_COLUMNS(table, 1, "attention", v->gpu ? "kernels a step" : "ops a step",
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
    softmax_note(table, v);
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
    profile_tables_ms(table, forward / steps);
    profile_tables_percent(table, forward, all_forward);
    profile_tables_ms(table, backward / steps);
    profile_tables_ms(table, step / steps);
    profile_tables_percent(table, step, all);
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
    PROFILE_COLUMNS(table, 1, "category", "forward a step (ms)", "of forward (%)",
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

/* ---- all of it ---- */

static Status write_one(Text *out, const ProfileTables *how, const RecordSet *set,
                        const ProfileView *v)
{
    Table table = {0};
    phases(&table, v, set);
    TRY(profile_tables_put(out, how, &table));
    attention(&table, v);
    TRY(profile_tables_put(out, how, &table));
    categories(&table, v);
    TRY(profile_tables_put(out, how, &table));
    TRY(profile_name_tables_write(out, how, v));
    TRY(profile_kernel_tables_write(out, how, v));
    TRY(profile_memory_tables_write(out, how, v));
    return profile_device_tables_write(out, how, v);
}

Status profile_tables_write(Text *out, const ProfileTables *how, const RecordSet *set)
{
    if (record_set_size(set) != 1 || profile_tables_failed(record_set_at(set, 0)))
        return profile_sweep_tables_write(out, how, set);
    ProfileView view;
    TRY(profile_view_make(&view, record_set_at(set, 0)));
    const Status status = write_one(out, how, set, &view);
    profile_view_free(&view);
    return status;
}
