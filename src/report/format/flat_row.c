#include "report/format/flat_row.h"

#include "base/json_text.h"
#include "bench/record/phase_fields.h"
#include "config/cell_field.h"
#include "config/option.h"

#define SQL_TEXT    "TEXT"
#define SQL_STATUS  "TEXT"
#define SQL_TEXTS   "TEXT"
#define SQL_NUMBERS "TEXT"
#define SQL_COUNT   "INTEGER"
#define SQL_WHOLE   "INTEGER"
#define SQL_INT     "INTEGER"
#define SQL_NUMBER  "REAL"
#define SQL_REAL    "REAL"

/* One column for a field of the result, and one for each field of a phase. */
#define OF_TEXT(name)   {#name, #name, false, SQL_TEXT},
#define OF_STATUS(name) {#name, #name, false, SQL_STATUS},
#define OF_TEXTS(name)  {#name, #name, false, SQL_TEXTS},
#define OF_COUNT(name)  {#name, #name, false, SQL_COUNT},
#define OF_WHOLE(name)  {#name, #name, false, SQL_WHOLE},
#define OF_INT(name)    {#name, #name, false, SQL_INT},
#define OF_NUMBER(name) {#name, #name, false, SQL_NUMBER},
#define OF_REAL(name)   {#name, #name, false, SQL_REAL},
#define OF_PHASE(phase) PHASE_FIELDS(PHASE_COLUMN, phase)
#define PHASE_COLUMN(phase, name, kind, need) \
    {#phase "_" #name, #phase "." #name, false, SQL_##kind},

/* The fields of a cell that stand here, in the order of cell_fields.def. */
#define CELL_FIELDS(group) {.cells = group},

static const FlatColumn listed[] = {
#define FIELD(name, kind, need) OF_##kind(name)
#include "bench/record/fields.def"
#define ENVIRONMENT(name, path, sql) {#name, path, true, #sql},
#include "report/format/environment_columns.def"
};
enum { LISTED = sizeof listed / sizeof *listed };

static const char *sql_type(OptionKind kind)
{
    if (kind == OPTION_KIND_INT) return SQL_INT;
    return kind == OPTION_KIND_REAL || kind == OPTION_KIND_BYTES ? SQL_REAL : SQL_TEXT;
}

static int put_cell_fields(FlatColumn *columns, int group)
{
    int n = 0;
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const char *name = cell_field_table[id].name;
        if (cell_field_table[id].csv == group)
            columns[n++] = (FlatColumn){name, name, false, sql_type(option_table[id].kind)};
    }
    return n;
}

const FlatColumn *flat_row_columns(int *n)
{
    static FlatColumn columns[LISTED + CELL_FIELD_COUNT];
    static int count;
    int at = 0;
    for (int i = 0; count == 0 && i < LISTED; i++) {
        if (listed[i].cells)
            at += put_cell_fields(columns + at, listed[i].cells);
        else
            columns[at++] = listed[i];
    }
    if (count == 0) count = at;
    *n = count;
    return columns;
}

/* A record that was not resumed leaves its command to the environment. */
const json_t *flat_row_value(const FlatColumn *column, const RecordSet *set, const Record *record)
{
    const json_t *value = column->environment ? NULL : record_value(record, column->path);
    if (!value) value = record_value(record_set_environment(set, record), column->path);
    return json_is_null(value) ? NULL : value;
}

void flat_row_put(Text *out, const json_t *value)
{
    if (json_is_string(value))
        text_puts(out, json_string_value(value));
    else if (value && !json_is_null(value))
        json_text_put(out, value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}
