#include "report/format/flat_list.h"

#include "base/array.h"
#include "base/json_text.h"
#include "report/format/csv_writer.h"
#include "report/format/sql_writer.h"

#include <stdlib.h>
#include <string.h>

static void put_csv(Text *out, const FlatList *list, const json_t *const *values)
{
    for (int c = 0; c < list->n_columns; c++) {
        if (c) text_puts(out, ",");
        if (values)
            csv_writer_value(out, values[c]);
        else
            text_puts(out, list->columns[c].name);
    }
    text_puts(out, "\n");
}

static Status write_columns(Text *out, const FlatList *list, bool sql)
{
    const int n = list->n_columns;
    CLEANUP(array_free) const json_t **values = calloc((size_t)n, sizeof *values);
    size_t i;
    json_t *row;
    if (!values) return NO_MEMORY("for rows");
    if (sql)
        sql_writer_begin(out, list->table, list->columns, n);
    else
        put_csv(out, list, NULL);
    json_array_foreach(list->rows, i, row)
    {
        for (int c = 0; c < n; c++) values[c] = record_value(row, list->columns[c].path);
        if (sql)
            sql_writer_insert(out, list->table, list->columns, values, n);
        else
            put_csv(out, list, values);
    }
    if (sql) sql_writer_end(out);
    return text_status(out);
}

bool flat_list_has_format(const char *format)
{
    return strcmp(format, "csv") == 0 || strcmp(format, "jsonl") == 0 || strcmp(format, "sql") == 0;
}

Status flat_list_write(Text *out, const char *format, const FlatList *list)
{
    size_t i;
    json_t *row;
    if (strcmp(format, "jsonl") != 0) return write_columns(out, list, strcmp(format, "sql") == 0);
    json_array_foreach(list->rows, i, row)
    {
        json_text_put(out, row, JSON_COMPACT | JSON_REAL_PRECISION(15));
        text_puts(out, "\n");
    }
    return text_status(out);
}
