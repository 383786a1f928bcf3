#include "report/profile/profile_tables.h"

#include "base/array.h"
#include "base/human.h"
#include "bench/record/profile_overhead.h"
#include "report/findings/findings.h"
#include "report/findings/summary.h"
#include "report/profile/profile_comm_tables.h"
#include "report/profile/profile_name_tables.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <stdio.h>
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

static HumanText overhead_text(const ProfileView *v, Phase phase)
{
    const ProfileOverhead overhead = profile_overhead(v, phase);
    HumanText out = {"-"};
    if (!isnan(overhead.percent))
        snprintf(out.s, sizeof out.s,
                 profile_overhead_is_noise(&overhead) ? "within noise (%+.1f)" : "%+.1f",
                 overhead.percent);
    return out;
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
    TABLE_CELLS(table, profile_cells_phase(phase), human_ms(at->unprofiled).s,
                human_ms(profile_view_middle(v, &at->wall)).s, overhead_text(v, phase).s,
                human_ms(at->wall.total).s, human_ms(exclusive(v, at)).s,
                human_percent(at->wall.total, v->step.total).s, human_count(nodes).s,
                human_count(v->gpu ? at->kernels / v->steps : nodes).s);
}

static void step_rows(Table *table, const ProfileView *v)
{
    double phases = 0;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) phases += v->phases[p].wall.total;
    }
    const double all = v->step.total, between = all - phases;
    TABLE_CELLS(table, "between phases", NULL, NULL, NULL, human_ms(between).s, human_ms(between).s,
                human_percent(between, all).s, NULL, NULL);
    TABLE_CELLS(table, "step", human_ms(profile_view_unprofiled(v, "step")).s,
                human_ms(profile_view_middle(v, &v->step)).s, overhead_text(v, PHASE_COUNT).s,
                human_ms(all).s, NULL, human_percent(all, all).s, NULL, NULL);
}

static void phases(Table *table, const ProfileView *v, const RecordSet *set)
{
    table->title = "Time of each phase, with and without the profiler";
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
    if (v->n_collectives > 0)
        table_note(table, "waiting for communication is in the exclusive time");
    if (v->gpu)
        table_note(
            table,
            "the unprofiled step runs without a wait between its phases; the profiled one waits "
            "after each");
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
    TABLE_CELLS(
        table, label, human_mean_count(part_calls(v, part)).s, human_ms(forward).s,
        human_ms(forward / steps).s, human_percent(forward, part_time(v, PHASE_FORWARD, NULL)).s,
        human_percent(forward, v->phases[PHASE_FORWARD].wall.total).s, human_ms(backward / steps).s,
        human_percent(backward, part_time(v, PHASE_BACKWARD, NULL)).s);
}

/* A row that is no part of attention: the rest of the forward pass. */
static void rest_row(Table *table, const ProfileView *v, const char *label, double total)
{
    TABLE_CELLS(table, label, NULL, human_ms(total).s, human_ms(total / (double)v->steps).s, NULL,
                human_percent(total, v->phases[PHASE_FORWARD].wall.total).s, NULL, NULL);
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
    table->title = "Where the time of attention goes";
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
    table_note(table, adds_up);
    if (part_time(v, PHASE_FORWARD, "residual") == 0)
        table_note(table,
                   "the norm that follows adds the residual: its time is in the other ops of the "
                   "forward pass");
    Text softmax = {0};
    findings_softmax(&softmax, v);
    table_note_text(table, &softmax);
}

/* ---- categories ---- */

/* Time of a category of ops, or of all of them, in ns of all steps. */
typedef struct CategoryTime {
    double forward, backward, step;
} CategoryTime;

static void category_row(Table *table, const ProfileView *v, const char *label,
                         const CategoryTime *time, const CategoryTime *all)
{
    const double steps = (double)v->steps;
    TABLE_CELLS(table, label, human_ms(time->forward / steps).s,
                human_percent(time->forward, all->forward).s, human_ms(time->backward / steps).s,
                human_ms(time->step / steps).s, human_percent(time->step, all->step).s);
    if (all->forward > 0 && all->step > 0)
        table_cell_printf(table, "%+.1f",
                          100 * (time->step / all->step - time->forward / all->forward));
    else
        table_cell(table, "-");
}

static void categories(Table *table, const ProfileView *v)
{
    const ViewPhase *p = v->phases;
    const CategoryTime all = {.forward = p[PHASE_FORWARD].attributed,
                              .backward = p[PHASE_BACKWARD].attributed,
                              .step = profile_cells_attributed(v)};
    CategoryTime left = all;
    table->title = "Where the time of a step goes, by category";
    TABLE_COLUMNS(table, 1, "category", "forward a step (ms)", "of forward (%)",
                  "backward a step (ms)", "whole step (ms)", "of step (%)",
                  "change of share (points)");
    TABLE_SPARE(table, "change of share (points)", "backward a step (ms)", "of forward (%)");
    for (OpCategory c = 0; c < CATEGORY_COUNT; c++) {
        const CategoryTime time = {profile_cells_category(v, PHASE_FORWARD, c),
                                   profile_cells_category(v, PHASE_BACKWARD, c),
                                   profile_cells_category(v, PHASE_COUNT, c)};
        left.forward -= time.forward;
        left.backward -= time.backward;
        left.step -= time.step;
        if (time.step > 0) category_row(table, v, plan_category_name(c), &time, &all);
    }
    if (left.step > 1e-6 * all.step) category_row(table, v, "other", &left, &all);
    category_row(table, v, "all ops", &all, &all);
    if (v->gpu) table_note(table, "time of kernels");
    table_note(table, adds_up);
    if (profile_cells_category(v, PHASE_COUNT, CATEGORY_softmax) > 0)
        table_note(table, "softmax includes the primitives an eager softmax is made of");
}

/* ---- ops against the limits ---- */

static int by_time(const void *a, const void *b)
{
    const ViewOp *x = *(const ViewOp *const *)a, *y = *(const ViewOp *const *)b;
    return (x->time.total < y->time.total) - (x->time.total > y->time.total);
}

static void op_row(Table *table, const ProfileTables *how, const ProfileView *v, const ViewOp *op)
{
    const double seconds = op->time.total * 1e-9 / (double)v->steps;
    const double flops = op->flops > 0 ? op->flops : NAN;
    const double compute = plan_category_multiplies(op->category) ? op->flops / v->limit_flops : 0;
    const double memory = op->bytes / v->limit_bandwidth;
    const bool limited = !isnan(compute) && !isnan(memory);
    table_cell(table, profile_cells_phase(op->phase));
    table_cell_printf(table, "%s %s", op->scope, op->op);
    TABLE_CELLS(table, op->by, human_count(op->nodes).s, human_si(flops).s,
                human_bytes(op->bytes).s, human_number(seconds * 1e3, 4).s,
                human_number(flops / seconds * 1e-12, 4).s,
                human_number(op->bytes / seconds * 1e-9, 4).s,
                limited ? human_percent(fmax(compute, memory), seconds).s : NULL,
                !limited           ? NULL
                : compute > memory ? "compute"
                                   : "memory");
    if (!how->source) return;
    table_cell(table, human_bytes(op->allocated).s);
    table_cell_printf(table, "%s:%d", op->source, op->line);
}

static void ops(Table *table, const ProfileTables *how, const RecordSet *set, const ProfileView *v)
{
    CLEANUP(array_free) const ViewOp **list = malloc(((size_t)v->n_ops + 1) * sizeof *list);
    int n = 0;
    table->failed = table->failed || !list;
    if (!list) return;
    table->title = "Every op against the measured limits";
    TABLE_COLUMNS(table, 3, "in", "op", "as", "nodes", "FLOPs a step", "bytes a step", "ms a step",
                  "TFLOP/s", "GB/s", "of limit (%)");
    TABLE_COLUMNS(table, 1, "bound by");
    TABLE_SPARE(table, "FLOPs a step", "bytes a step", "nodes", "as", "GB/s", "TFLOP/s",
                "bound by");
    if (how->source) {
        table_column(table, "allocates a step", "", true);
        table_column(table, "source", "", false);
    }
    for (int i = 0; i < v->n_ops; i++) {
        if (v->ops[i].time.n > 0) list[n++] = &v->ops[i];
    }
    qsort(list, (size_t)n, sizeof *list, by_time);
    for (int i = 0; i < n && i < 2 * how->top; i++) op_row(table, how, v, list[i]);
    if (isnan(v->limit_flops)) {
        table_note(table, "for the share of this machine's limit run 'roofstep limits' once, on a "
                          "busy machine with --keep");
    } else {
        table_note(
            table,
            "% of limit = shortest possible time at the measured rates / actual time; what stays "
            "in a cache can be above 100 %");
        record_notes_busy(table, set);
    }
}

/* ---- all of it ---- */

static Status write_one(Text *out, const ProfileTables *how, const RecordSet *set,
                        const ProfileView *v)
{
    Table table = {0};
    phases(&table, v, set);
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_comm_tables_write(out, how, v));
    attention(&table, v);
    TRY(table_write_next(out, how->format, &table));
    categories(&table, v);
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_name_tables_write(out, how, v));
    ops(&table, how, set, v);
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_name_tables_memory(out, how, v));
    return profile_device_tables_write(out, how, v);
}

static Status write_all(Text *out, const ProfileTables *how, const RecordSet *set)
{
    if (record_set_size(set) != 1 || profile_cells_failed(record_set_at(set, 0)))
        return profile_sweep_tables_write(out, how, set);
    CLEANUP(profile_view_free) ProfileView view = {0};
    TRY(profile_view_make(&view, record_set_at(set, 0)));
    return write_one(out, how, set, &view);
}

Status profile_tables_write(Text *out, const ProfileTables *how, const RecordSet *set)
{
    CLEANUP(text_free) Text gap = {0};
    TRY(write_all(out, how, set));
    TRY(advice_put_gap(&gap, set));
    return table_write_conclusion(out, how->format, &gap);
}
