#include "base/json_text.h"
#include "report/format/table_write.h"

static json_t *columns_json(const Table *table)
{
    json_t *list = json_array();
    for (int c = 0; c < table->n_columns; c++)
        json_array_append_new(list, json_pack("{s:s, s:b}", "label", table->columns[c].label,
                                              "right", table->columns[c].right));
    return list;
}

static json_t *rows_json(const Table *table)
{
    json_t *list = json_array();
    for (size_t r = 0; r < table_rows(table); r++) {
        json_t *row = json_array();
        for (int c = 0; c < table->n_columns; c++)
            json_array_append_new(row, json_string(table_at(table, r, c)));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *notes_json(const Table *table)
{
    json_t *list = json_array();
    for (size_t i = 0; i < table->n_notes; i++)
        json_array_append_new(list, json_pack("{s:s?, s:s?}", "text", table->notes[i].text, "code",
                                              table->notes[i].code));
    return list;
}

/* One line of JSON: title, columns, rows, notes. */
static Status write_table(Text *out, const Table *table)
{
    CLEANUP(json_text_free)
    json_t *json =
        json_pack("{s:s?, s:o, s:o, s:o}", "title", table->title, "columns", columns_json(table),
                  "rows", rows_json(table), "notes", notes_json(table));
    json_text_put(out, json, JSON_COMPACT);
    text_puts(out, "\n");
    return text_status(out);
}

const TableFormat table_page = {.name = "page", .write = write_table};
