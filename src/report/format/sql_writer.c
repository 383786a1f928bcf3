#include "report/format/sql_writer.h"

#include "base/escape.h"

void sql_writer_begin(Text *out, const char *table, const FlatColumn *columns, int n)
{
    text_printf(out, "BEGIN;\nCREATE TABLE IF NOT EXISTS %s (\n", table);
    for (int c = 0; c < n; c++) {
        text_printf(out, "  \"%s\" %s%s\n", columns[c].name, columns[c].sql_type,
                    c + 1 < n ? "," : "");
    }
    text_puts(out, ");\n");
}

static void put_literal(Text *out, const json_t *value)
{
    CLEANUP(text_free) Text plain = {0};
    flat_row_put(&plain, value);
    text_puts(out, "'");
    escape_put(out, ESCAPE_SQL, text_str(&plain));
    text_puts(out, "'");
    out->failed = out->failed || plain.failed;
}

/* The value decides the quotes, not the type of its column: a file may hold anything. */
static void put_value(Text *out, const json_t *value)
{
    if (!value || json_is_null(value))
        text_puts(out, "NULL");
    else if (json_is_number(value))
        flat_row_put(out, value);
    else
        put_literal(out, value);
}

void sql_writer_insert(Text *out, const char *table, const FlatColumn *columns,
                       const json_t *const *values, int n)
{
    text_printf(out, "INSERT INTO %s (", table);
    for (int c = 0; c < n; c++) {
        text_printf(out, "%s\"%s\"", c ? ", " : "", columns[c].name);
    }
    text_puts(out, ")\n  VALUES (");
    for (int c = 0; c < n; c++) {
        if (c) text_puts(out, ", ");
        put_value(out, values[c]);
    }
    text_puts(out, ");\n");
}

void sql_writer_end(Text *out)
{
    text_puts(out, "COMMIT;\n");
}
