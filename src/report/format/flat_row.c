#include "report/format/flat_row.h"

#include "base/json_text.h"
#include "bench/record/phase_fields.h"

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

const FlatColumn flat_row_columns[] = {
#define FIELD(name, kind, need) OF_##kind(name)
#include "bench/record/fields.def"
#undef FIELD
#define ENVIRONMENT(name, path, sql) {#name, path, true, #sql},
#include "report/format/environment_columns.def"
#undef ENVIRONMENT
};
const int flat_row_count = (int)(sizeof flat_row_columns / sizeof *flat_row_columns);

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
