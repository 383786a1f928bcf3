#include "report/records/record_table.h"

#include "bench/record/record_stat.h"
#include "report/format/table_write.h"
#include "report/records/baseline.h"
#include "report/records/cell_text.h"
#include "report/records/growth_report.h"
#include "report/records/precision_gain.h"
#include "report/records/record_conclusion.h"
#include "report/records/record_notes.h"
#include "report/records/row_warnings.h"

#include <stdio.h>
#include <string.h>

static bool is_right(const Column *column)
{
    return column->kind != COLUMN_WORD && column->kind != COLUMN_STATUS;
}

/* The first cell of a row has the marks of its warnings. */
static void put_row(Table *table, const ColumnSet *shown, const RowWarnings *warnings,
                    const Record *record, const Record *baseline)
{
    Text text = {0};
    bool marked = false;
    for (int c = 0; c < column_count; c++) {
        if (!shown->has[c]) continue;
        cell_text_put(&text, &column_list[c], record, baseline);
        if (!marked) row_warnings_mark(warnings, record, &text);
        marked = true;
        table_cell_text(table, &text);
    }
}

static bool all_ok(const RecordSet *set)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (record_status(record_set_at(set, i)) != RECORD_OK) return false;
    }
    return true;
}

static void put_spare(Table *table, const RecordSet *set)
{
    static const char *const headings[] = {
#define IDENTITY(path, label, kind, show)
#define FIGURE(path, label, unit, kind, digits, show)
#define SPARE(heading) heading,
#include "report/records/columns.def"
        NULL};
    const bool ok = all_ok(set);
    for (int i = 0; headings[i]; i++) {
        if (ok || strcmp(headings[i], "status") != 0) TABLE_SPARE(table, headings[i]);
    }
}

/* The step says which statistic all times are, "step, median (ms)": terminals are narrow. */
static void put_heading(Table *table, const Column *column, const RecordSet *set)
{
    char label[COLUMN_TEXT];
    const bool named = column->kind == COLUMN_TIME && strcmp(column->path, "step") == 0;
    snprintf(label, sizeof label, "%s%s%s", column->label, named ? ", " : "",
             named ? config_stats[record_stat_of_set(set)] : "");
    table_column(table, label, column->unit, is_right(column));
}

/* Columns that vary between the rows and the essential ones (columns.def); below them the common
 * settings, what went wrong, the warnings, and the machine with the command line. */
static void fill(Table *table, const RecordSet *set, const Baseline *baseline)
{
    RowWarnings warnings;
    ColumnSet shown = {{0}};
    for (int c = 0; c < column_count; c++) {
        shown.has[c] = column_shown(&column_list[c], set, baseline != NULL);
        if (shown.has[c]) put_heading(table, &column_list[c], set);
    }
    put_spare(table, set);
    row_warnings_find(&warnings, set);
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        const Record *row = baseline ? baseline_row(baseline, set, record) : NULL;
        put_row(table, &shown, &warnings, record, row);
    }
    record_notes_common(table, set);
    record_notes_definitions(table, set);
    precision_gain_note(table, set);
    record_notes_rows(table, set, &shown, &warnings);
}

/* ---- the values of one column beside each other ---- */

enum { MOST_VALUES = 6 }; /* so that the widest table has room for its columns */

/* What is compared, by its column. */
static const struct {
    const char *path;
    bool change;
} figures[] = {{"forward", true}, {"backward", true}, {"mem_before_bwd_mib", false}};
enum { N_FIGURES = sizeof figures / sizeof *figures };

/* Of the baseline's column, its own first. */
typedef struct Values {
    char text[MOST_VALUES][COLUMN_TEXT];
    int n;
    bool cut; /* there are more */
} Values;

static const Column *column_of(const char *path)
{
    for (int c = 0; c < column_count; c++) {
        if (!column_list[c].identity && strcmp(column_list[c].path, path) == 0)
            return &column_list[c];
    }
    return NULL;
}

static void add_value(Values *values, const char *text)
{
    for (int v = 0; v < values->n; v++) {
        if (strcmp(values->text[v], text) == 0) return;
    }
    if (values->n < MOST_VALUES) {
        memcpy(values->text[values->n++], text, COLUMN_TEXT);
    } else {
        values->cut = true;
    }
}

static Values values_of(const Baseline *baseline, const RecordSet *set)
{
    Values values = {0};
    char text[COLUMN_TEXT];
    add_value(&values, baseline->value);
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        if (baseline_row(baseline, set, record) == record) continue;
        if (column_asked(baseline->column, record, text)) add_value(&values, text);
    }
    return values;
}

static void put_value_headings(Table *table, const Baseline *baseline, const Values *values)
{
    CLEANUP(text_free) Text label = {0};
    for (int i = 0; i < baseline->n_others; i++) {
        const Column *column = baseline->others[i];
        table_column(table, column->label, column->unit, column->kind != COLUMN_WORD);
    }
    for (int f = 0; f < N_FIGURES; f++) {
        const Column *column = column_of(figures[f].path);
        for (int v = 0; v < values->n; v++) {
            text_clear(&label);
            text_printf(&label, "%s, %s", column->label, values->text[v]);
            table_column(table, text_str(&label), column->unit, true);
            if (v > 0 && figures[f].change) table_column(table, "change", "%", true);
        }
    }
    table->failed = table->failed || label.failed;
}

static void put_values_row(Table *table, const RecordSet *set, const Baseline *baseline,
                           const Values *values, const Record *leader)
{
    Text text = {0};
    for (int i = 0; i < baseline->n_others; i++) {
        cell_text_put(&text, baseline->others[i], leader, NULL);
        table_cell_text(table, &text);
    }
    const Record *base = baseline_row(baseline, set, leader);
    for (int f = 0; f < N_FIGURES; f++) {
        const Column *column = column_of(figures[f].path);
        for (int v = 0; v < values->n; v++) {
            const Record *row = baseline_row_with(baseline, set, leader, values->text[v]);
            cell_text_put_or_status(&text, column, row);
            table_cell_text(table, &text);
            if (v == 0 || !figures[f].change) continue;
            cell_text_put_change(&text, column, row, base);
            table_cell_text(table, &text);
        }
    }
}

/* The first row of its kind. */
static bool leads(const RecordSet *set, const Baseline *baseline, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (baseline_alike(baseline, record_set_at(set, i), record_set_at(set, row))) return false;
    }
    return true;
}

/* A row for every set of rows that differ in the baseline's column alone; its own value comes first. */
static void fill_side_by_side(Table *table, const RecordSet *set, const Baseline *baseline)
{
    const Values values = values_of(baseline, set);
    table->title = "The values side by side";
    put_value_headings(table, baseline, &values);
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (leads(set, baseline, i))
            put_values_row(table, set, baseline, &values, record_set_at(set, i));
    }
    table_note_printf(table, "change of the %s against %s %s; below 0 is faster%s",
                      config_stats[record_stat_of_set(set)], baseline->column->label,
                      baseline->value, values.cut ? "; the first table has more values" : "");
}

static bool of_attention(const RecordSet *set)
{
    return record_set_size(set) > 0 && record_value(record_set_at(set, 0), "d_head");
}

Status record_table_write(Text *out, const char *format, const ReportInput *input)
{
    CLEANUP(table_free) Table table = {0};
    CLEANUP(text_free) Text conclusion = {0};
    const RecordSet *set = input->set;
    Baseline baseline;
    if (input->baseline) TRY(baseline_find(&baseline, set, input->baseline));
    fill(&table, set, input->baseline ? &baseline : NULL);
    table.title = "Every cell";
    TRY(table_write(out, format, &table));
    if (input->baseline && of_attention(set)) {
        table_free(&table);
        fill_side_by_side(&table, set, &baseline);
        TRY(table_write_next(out, format, &table));
    }
    TRY(growth_report_write(out, format, set));
    TRY(record_conclusion_put(&conclusion, set));
    return table_write_conclusion(out, format, &conclusion);
}
