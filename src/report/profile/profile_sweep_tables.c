#include "base/human.h"
#include "base/text_groups.h"
#include "prof/part.h"
#include "report/findings/findings.h"
#include "report/profile/profile_comm_tables.h"
#include "report/profile/profile_name_tables.h"
#include "report/records/cell_text.h"
#include "report/records/precision_gain.h"
#include "report/records/same_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a row per cell ---- */

/* Of the time of all ops in a phase (PHASE_COUNT: the step). */
static HumanText matmul_share(const ProfileView *v, int phase)
{
    const double all =
        phase == PHASE_COUNT ? profile_cells_attributed(v) : v->phases[phase].attributed;
    return human_number(
        all > 0 ? 100 * profile_cells_category(v, phase, CATEGORY_matmul) / all : NAN, 3);
}

/* Time of the kernels (GPU) or ops (CPU) of one step. */
static double device_time(const ProfileView *v)
{
    double total = 0;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (v->phases[p].there) total += v->gpu ? v->phases[p].busy : v->phases[p].attributed;
    }
    return total / (double)v->steps;
}

/* The kernel that takes most time in a phase (PHASE_COUNT: the step), NULL: none. A file of an older
 * version has names by op only. */
static const ViewName *top_kernel(const ProfileView *view, int phase)
{
    const bool by_op = view->n_phase_kernels == 0, step = phase == PHASE_COUNT;
    const ViewName *list = by_op ? view->kernels : step ? view->names : view->phase_kernels;
    const int n = by_op ? view->n_kernels : step ? view->n_names : view->n_phase_kernels;
    const ViewName *top = NULL;
    for (int i = 0; i < n; i++) {
        if (!profile_name_tables_is_in(view, &list[i], step ? NULL : plan_phase_name((Phase)phase)))
            continue;
        if (!top || list[i].time.total > top->time.total) top = &list[i];
    }
    return top;
}

static void top_cells(Table *table, const ProfileView *v, int phase)
{
    const ViewName *top = top_kernel(v, phase);
    const double steps = (double)v->steps;
    if (top)
        TABLE_CELLS(table, v->gpu ? top->brief : top->name,
                    human_mean_count((double)top->time.n / steps).s,
                    human_ms(top->time.total / steps).s);
    else
        table_dashes(table, 3);
}

/* Columns of the table whatever the rows are. */
static const char *const labels[] = {"size", "ctx", "batch", "precision", "attention", "exec"};
enum { LABELS = sizeof labels / sizeof *labels };

/* What else sets the rows apart. */
static ColumnSet other_labels(const RecordSet *set)
{
    ColumnSet columns = column_distinct(set);
    for (int i = 0; i < LABELS; i++) column_leave_out(&columns, labels[i]);
    return columns;
}

static void other_headings(Table *table, const ColumnSet *others)
{
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (others->has[c])
            table_column(table, column->label, column->unit, column->kind != COLUMN_WORD);
    }
}

static void other_cells(Table *table, const Record *record, const ColumnSet *others)
{
    char text[COLUMN_TEXT];
    for (int c = 0; c < column_count; c++) {
        if (!others->has[c]) continue;
        table_cell(table, column_text(&column_list[c], record, text) ? text : NULL);
    }
}

static void label_cells(Table *table, const Record *r, const RowWarnings *warnings)
{
    CLEANUP(text_free) Text name = {0};
    int64_t ctx = 0, batch = 0;
    enum { FIRST_TEXT = 3 };
    record_int(r, "ctx", &ctx);
    record_int(r, "batch", &batch);
    text_puts(&name, record_text(r, "size") ? record_text(r, "size") : "attention");
    row_warnings_mark(warnings, r, &name);
    table_cell(table, text_str(&name));
    table_cell_printf(table, "%lld", (long long)ctx);
    table_cell_printf(table, "%lld", (long long)batch);
    for (int i = FIRST_TEXT; i < LABELS; i++) table_cell(table, record_text(r, labels[i]));
    table->failed = table->failed || name.failed;
}

static void profile_cells(Table *table, const ProfileView *v)
{
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++)
        table_cell(table, v->phases[p].there
                              ? human_ms(profile_view_middle(v, &v->phases[p].wall)).s
                              : "-");
    TABLE_CELLS(table, human_ms(profile_view_middle(v, &v->step)).s, human_ms(device_time(v)).s,
                matmul_share(v, PHASE_FORWARD).s, matmul_share(v, PHASE_COUNT).s);
    top_cells(table, v, PHASE_FORWARD);
    top_cells(table, v, PHASE_COUNT);
}

enum { FIGURES = 13 }; /* columns behind the labels, three of each top */

static Status summary_row(Table *table, const Record *record, const ColumnSet *others,
                          const RowWarnings *warnings)
{
    CLEANUP(profile_view_free) ProfileView view = {0};
    label_cells(table, record, warnings);
    other_cells(table, record, others);
    if (profile_cells_failed(record)) {
        table_cell(table, cell_text_status(record_status(record)));
        table_dashes(table, FIGURES - 1);
        return ST_OK;
    }
    TRY(profile_view_make(&view, record));
    profile_cells(table, &view);
    return ST_OK;
}

static void headings(Table *table, const ColumnSet *others)
{
    table->title = "Every profiled cell";
    TABLE_COLUMNS(table, 1, "size", "ctx", "batch");
    TABLE_COLUMNS(table, 3, "precision", "attention", "exec");
    other_headings(table, others);
    TABLE_COLUMNS(table, 0, "forward (ms)", "backward (ms)", "optimizer (ms)", "wall, step (ms)",
                  "device, step (ms)", "matmul of forward (%)", "matmul of step (%)");
    TABLE_COLUMNS(table, 1, "top of forward", "calls", "ms");
    TABLE_COLUMNS(table, 1, "top of step", "calls", "ms");
    TABLE_SPARE(table, "calls", "ms", "top of forward", "calls", "ms", "top of step",
                "matmul of forward (%)", "matmul of step (%)", "optimizer (ms)", "backward (ms)");
}

static Status summary(Table *table, const RecordSet *set)
{
    const ColumnSet others = other_labels(set);
    RowWarnings warnings;
    headings(table, &others);
    row_warnings_find(&warnings, set);
    for (size_t i = 0; i < record_set_size(set); i++)
        TRY(summary_row(table, record_set_at(set, i), &others, &warnings));
    profile_cells_notes(table, set, &warnings);
    table_note_printf(table,
                      "%s of the profiled steps; device: kernels on a GPU, ops on a CPU, on "
                      "average; calls and ms of "
                      "the top ones are of one step",
                      record_set_size(set) ? profile_cells_stat(record_set_at(set, 0)) : "means");
    return ST_OK;
}

/* ---- two styles side by side ---- */

/* One line of the comparison. */
typedef struct Figures {
    double kernels, softmax_kernels, time;
} Figures;

static bool in_softmax(const ViewOp *op)
{
    return op->part && strcmp(op->part, "softmax") == 0;
}

/* `part` false: the whole phase (PHASE_COUNT: the step); true: attention in it, of one layer. */
static Figures figures(const ProfileView *v, int phase, bool part, double layers)
{
    Figures f = {0};
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if ((phase != PHASE_COUNT && (int)op->phase != phase) || (part && !op->part)) continue;
        const double calls = profile_view_calls(v, i) / (part ? layers : 1);
        f.kernels += calls;
        if (in_softmax(op)) f.softmax_kernels += calls;
        f.time += op->time.total / (double)v->steps / (part ? layers : 1);
    }
    return f;
}

static void pair_row(Table *table, const char *what, HumanText (*text)(double), double a, double b)
{
    TABLE_CELLS(table, what, text(a).s, text(b).s, human_number(a > 0 ? b / a : NAN, 3).s);
}

static void pair_rows(Table *table, const ProfileView *a, const ProfileView *b, double layers)
{
    static const struct {
        const char *launches, *softmax, *time;
        int phase;
        bool part;
    } rows[] = {
        {"kernels of one attention, forward", "of these for softmax", "one attention, forward (us)",
         PHASE_FORWARD, true},
        {"kernels of forward", NULL, "ops of forward (us)", PHASE_FORWARD, false},
        {"kernels of backward", NULL, "ops of backward (us)", PHASE_BACKWARD, false},
        {"kernels of the step", NULL, "ops of the step (us)", PHASE_COUNT, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Figures x = figures(a, rows[i].phase, rows[i].part, layers);
        const Figures y = figures(b, rows[i].phase, rows[i].part, layers);
        if (!(x.time > 0)) continue;
        pair_row(table, rows[i].launches, human_mean_count, x.kernels, y.kernels);
        if (rows[i].softmax)
            pair_row(table, rows[i].softmax, human_mean_count, x.softmax_kernels,
                     y.softmax_kernels);
        pair_row(table, rows[i].time, human_us, x.time, y.time);
    }
    pair_row(table, "wall of the step (us)", human_us, profile_view_middle(a, &a->step),
             profile_view_middle(b, &b->step));
    if (!a->gpu || !b->gpu) return;
    const ViewStats *x = &a->device.gaps.time, *y = &b->device.gaps.time;
    pair_row(table, "gaps of the step", human_mean_count, (double)x->n / (double)a->steps,
             (double)y->n / (double)b->steps);
    pair_row(table, "gaps, total a step (us)", human_us, x->total / (double)a->steps,
             y->total / (double)b->steps);
}

static Status pair(Text *out, const ProfileTables *how, const Record *first, const Record *second,
                   bool more)
{
    CLEANUP(profile_view_free) ProfileView a = {0};
    CLEANUP(profile_view_free) ProfileView b = {0};
    Table table = {0};
    int64_t layers = 1, micro_batches = 1;
    const char *x = record_text(first, "exec"), *y = record_text(second, "exec");
    char ratio[40];
    record_int(first, "num_layers", &layers);
    record_int(first, "accumulate", &micro_batches);
    TRY(profile_view_make(&a, first));
    TRY(profile_view_make(&b, second));
    snprintf(ratio, sizeof ratio, "%.15s / %.15s", y, x);
    table.title = "The two cells side by side";
    TABLE_COLUMNS(&table, 1, "a step", x, y, ratio);
    pair_rows(&table, &a, &b, (double)(layers * micro_batches));
    if (!a.gpu) table_note(&table, "on a CPU a kernel is one run of an op");
    if (more) table_note(&table, "further rows of the same work are not compared");
    return table_write_next(out, how->format, &table);
}

/* Rows of the same work, and after each of them the next in another style. */
typedef struct Styles {
    TextGroups work;
    size_t *other; /* as many as there are rows: none */
} Styles;

static void free_styles(Styles *styles)
{
    text_groups_free(&styles->work);
    free(styles->other);
}

static const char *style(const RecordSet *set, size_t i)
{
    return record_text(record_set_at(set, i), "exec");
}

static Status find_styles(Styles *styles, const RecordSet *set)
{
    /* What an execution style decides: rows that differ in these alone did the same work. */
    static const char *const but[] = {"exec", "attention", "recompute", "blas"};
    const size_t n = record_set_size(set);
    CLEANUP(text_free) Text text = {0};
    TRY(text_groups_init(&styles->work, n));
    styles->other = malloc((n + 1) * sizeof *styles->other);
    if (!styles->other) return NO_MEMORY("for profiles");
    for (size_t i = 0; i < n; i++) {
        if (profile_cells_failed(record_set_at(set, i)) || !style(set, i)) continue;
        same_work_put(&text, record_set_at(set, i), but, sizeof but / sizeof *but);
        TRY(text_groups_put(&styles->work, i, &text));
    }
    for (size_t i = n; i-- > 0;) {
        const size_t next = text_groups_next(&styles->work, i);
        const bool same = next < n && strcmp(style(set, i), style(set, next)) == 0;
        styles->other[i] = same ? styles->other[next] : next;
    }
    return ST_OK;
}

/* Each row beside those after it that did the same work in another style. */
static Status pairs(Text *out, const ProfileTables *how, const RecordSet *set)
{
    enum { MOST = 16 }; /* of a row, so that a thousand rows of one work are not a million tables */
    const size_t n = record_set_size(set);
    CLEANUP(free_styles) Styles styles = {0};
    TRY(find_styles(&styles, set));
    for (size_t i = 0; i < n; i++) {
        size_t j = styles.other[i];
        for (int k = 1; j < n && k <= MOST; k++) {
            size_t next = text_groups_next(&styles.work, j);
            if (next < n && strcmp(style(set, i), style(set, next)) == 0) next = styles.other[next];
            const bool more = k == MOST && next < n;
            TRY(pair(out, how, record_set_at(set, i), record_set_at(set, j), more));
            j = next;
        }
    }
    return ST_OK;
}

/* What the rows say together. */
static Status sentences(Table *table, const RecordSet *set)
{
    Text text = {0};
    const Status status = findings_softmax_first(&text, set);
    table_note_text(table, &text);
    precision_gain_ops(&text, set);
    table_note_text(table, &text);
    return status;
}

Status profile_sweep_tables_write(Text *out, const ProfileTables *how, const RecordSet *set)
{
    CLEANUP(table_free) Table table = {0};
    TRY(summary(&table, set));
    TRY(sentences(&table, set));
    TRY(table_write_next(out, how->format, &table));
    TRY(profile_comm_tables_many(out, how, set));
    TRY(profile_fp8_table_write(out, how, set));
    return pairs(out, how, set);
}
