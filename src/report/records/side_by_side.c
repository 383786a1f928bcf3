#include "report/records/side_by_side.h"

#include "bench/record/record_stat.h"
#include "report/records/cell_text.h"

#include <string.h>

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

static void put_headings(Table *table, const Baseline *baseline, const Values *values)
{
    Text label = {0};
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
    text_free(&label);
}

static void put_row(Table *table, const RecordSet *set, const Baseline *baseline,
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

Status side_by_side_build(Table *table, const RecordSet *set, const Baseline *baseline)
{
    const Values values = values_of(baseline, set);
    *table = (Table){0};
    put_headings(table, baseline, &values);
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (leads(set, baseline, i)) put_row(table, set, baseline, &values, record_set_at(set, i));
    }
    table_note_printf(table, "change of the %s against %s %s; below 0 is faster%s",
                      config_stat_name(record_stat_of_set(set)), baseline->column->label,
                      baseline->value, values.cut ? "; the first table has more values" : "");
    return table_status(table);
}
