#include "base/escape.h"
#include "report/format/flat_row.h"
#include "report/records/report.h"

/* Made once, filled again and again: `roofstep ... --format sql | sqlite3 db` accumulates. */
#define TABLE "roofstep_results"

static void put_literal(Text *out, const char *text)
{
    text_puts(out, "'");
    escape_put(out, ESCAPE_SQL, text);
    text_puts(out, "'");
}

static void put_create(Text *out)
{
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    text_puts(out, "CREATE TABLE IF NOT EXISTS " TABLE " (\n");
    for (int c = 0; c < n; c++) {
        text_printf(out, "  \"%s\" %s%s\n", columns[c].name, columns[c].sql_type,
                    c + 1 < n ? "," : "");
    }
    text_puts(out, ");\n");
}

/* The value decides the quotes, not the type of its column: a file may hold anything. */
static void put_value(Text *out, Text *scratch, const json_t *value)
{
    if (!value) {
        text_puts(out, "NULL");
    } else if (json_is_number(value)) {
        flat_row_put(out, value);
    } else {
        text_clear(scratch);
        flat_row_put(scratch, value);
        put_literal(out, text_str(scratch));
    }
}

static void put_insert(Text *out, Text *scratch, const RecordSet *set, const Record *record)
{
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    text_puts(out, "INSERT INTO " TABLE " (");
    for (int c = 0; c < n; c++) {
        text_printf(out, "%s\"%s\"", c ? ", " : "", columns[c].name);
    }
    text_puts(out, ")\n  VALUES (");
    for (int c = 0; c < n; c++) {
        if (c) text_puts(out, ", ");
        put_value(out, scratch, flat_row_value(&columns[c], set, record));
    }
    text_puts(out, ");\n");
}

Status report_sql(Text *out, const ReportInput *input)
{
    CLEANUP(text_free) Text scratch = {0};
    text_puts(out, "BEGIN;\n");
    put_create(out);
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        put_insert(out, &scratch, input->set, record_set_at(input->set, i));
    }
    text_puts(out, "COMMIT;\n");
    out->failed = out->failed || scratch.failed;
    return text_status(out);
}
