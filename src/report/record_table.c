#include "report/record_table.h"

#include "report/baseline.h"
#include "report/cell_text.h"
#include "report/growth_report.h"
#include "report/record_notes.h"
#include "report/side_by_side.h"

#include <string.h>

static bool is_right(const Column *column)
{
    return column->kind != COLUMN_WORD && column->kind != COLUMN_STATUS;
}

static void put_row(Table *table, const bool *shown, const Record *record, const Record *baseline)
{
    Text text = {0};
    for (int c = 0; c < column_count; c++) {
        if (!shown[c]) continue;
        text_clear(&text);
        cell_text_put(&text, &column_list[c], record, baseline);
        table->failed = table->failed || text.failed;
        table_cell(table, text_str(&text));
    }
    text_free(&text);
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
#include "report/columns.def"
#undef IDENTITY
#undef FIGURE
#undef SPARE
        NULL};
    const bool ok = all_ok(set);
    for (int i = 0; headings[i]; i++) {
        if (ok || strcmp(headings[i], "status") != 0) TABLE_SPARE(table, headings[i]);
    }
}

Status record_table_build(Table *table, const ReportInput *input)
{
    *table = (Table){0};
    Baseline baseline;
    if (input->baseline) TRY(baseline_find(&baseline, input->set, input->baseline));
    bool shown[TABLE_MAX_COLUMNS] = {0};
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        shown[c] = column_shown(column, input->set, input->baseline != NULL);
        if (shown[c]) table_column(table, column->label, column->unit, is_right(column));
    }
    put_spare(table, input->set);
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        const Record *record = record_set_at(input->set, i);
        const Record *row = input->baseline ? baseline_row(&baseline, input->set, record) : NULL;
        put_row(table, shown, record, row);
    }
    record_notes_put(table, input->set, shown);
    const Status status = table_status(table);
    if (status != ST_OK) table_free(table);
    return status;
}

static bool of_attention(const RecordSet *set)
{
    return record_set_size(set) > 0 && record_value(record_set_at(set, 0), "d_head");
}

static Status write_side_by_side(Text *out, const ReportInput *input, TableWriter *put)
{
    Baseline baseline;
    Table table;
    TRY(baseline_find(&baseline, input->set, input->baseline));
    Status status = side_by_side_build(&table, input->set, &baseline);
    text_puts(out, "\n");
    if (status == ST_OK) status = put(out, &table);
    table_free(&table);
    return status;
}

Status record_table_write(Text *out, const ReportInput *input, TableWriter *put)
{
    Table table;
    TRY(record_table_build(&table, input));
    const Status status = put(out, &table);
    table_free(&table);
    TRY(status);
    if (input->baseline && of_attention(input->set)) TRY(write_side_by_side(out, input, put));
    return growth_report_write(out, put, input->set);
}
