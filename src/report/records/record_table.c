#include "report/records/record_table.h"

#include "bench/record/record_stat.h"
#include "report/format/table_write.h"
#include "report/records/baseline.h"
#include "report/records/cell_text.h"
#include "report/records/growth_report.h"
#include "report/records/precision_gain.h"
#include "report/records/record_notes.h"
#include "report/records/row_warnings.h"
#include "report/records/side_by_side.h"

#include <stdio.h>
#include <string.h>

static bool is_right(const Column *column)
{
    return column->kind != COLUMN_WORD && column->kind != COLUMN_STATUS;
}

/* The first cell of a row has the marks of its warnings. */
static void put_row(Table *table, const bool *shown, const RowWarnings *warnings,
                    const Record *record, const Record *baseline)
{
    Text text = {0};
    bool marked = false;
    for (int c = 0; c < column_count; c++) {
        if (!shown[c]) continue;
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
#undef IDENTITY
#undef FIGURE
#undef SPARE
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
             named ? config_stat_name(record_stat_of_set(set)) : "");
    table_column(table, label, column->unit, is_right(column));
}

Status record_table_build(Table *table, const ReportInput *input)
{
    *table = (Table){0};
    Baseline baseline;
    RowWarnings warnings;
    if (input->baseline) TRY(baseline_find(&baseline, input->set, input->baseline));
    bool shown[TABLE_MAX_COLUMNS] = {0};
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        shown[c] = column_shown(column, input->set, input->baseline != NULL);
        if (shown[c]) put_heading(table, column, input->set);
    }
    put_spare(table, input->set);
    row_warnings_find(&warnings, input->set);
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        const Record *record = record_set_at(input->set, i);
        const Record *row = input->baseline ? baseline_row(&baseline, input->set, record) : NULL;
        put_row(table, shown, &warnings, record, row);
    }
    record_notes_common(table, input->set);
    record_notes_definitions(table, input->set);
    precision_gain_note(table, input->set);
    record_notes_rows(table, input->set, shown, &warnings);
    const Status status = table_status(table);
    if (status != ST_OK) table_free(table);
    return status;
}

static bool of_attention(const RecordSet *set)
{
    return record_set_size(set) > 0 && record_value(record_set_at(set, 0), "d_head");
}

static Status write_side_by_side(Text *out, const ReportInput *input, const char *format)
{
    Baseline baseline;
    Table table;
    TRY(baseline_find(&baseline, input->set, input->baseline));
    Status status = side_by_side_build(&table, input->set, &baseline);
    text_puts(out, "\n");
    if (status == ST_OK) status = table_write(out, format, &table);
    table_free(&table);
    return status;
}

Status record_table_write(Text *out, const char *format, const ReportInput *input)
{
    Table table;
    TRY(record_table_build(&table, input));
    const Status status = table_write(out, format, &table);
    table_free(&table);
    TRY(status);
    if (input->baseline && of_attention(input->set)) TRY(write_side_by_side(out, input, format));
    return growth_report_write(out, format, input->set);
}
