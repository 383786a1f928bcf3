#include "report/report_typst.h"

#include "report/record_table.h"

/* Cells are string literals: no markup is read in them, so only \ and " are special. */
void report_typst_string(Text *out, const char *text)
{
    text_puts(out, "\"");
    for (; *text; text++) {
        if (*text == '\\' || *text == '"') text_puts(out, "\\");
        text_append(out, (unsigned char)*text < ' ' ? " " : text, 1);
    }
    text_puts(out, "\"");
}

static void put_heading(Text *out, const Table *table)
{
    text_printf(out, "#table(\n  columns: %d,\n  align: (", table->n_columns);
    for (int c = 0; c < table->n_columns; c++) {
        text_puts(out, table->columns[c].right ? "right, " : "left, ");
    }
    text_puts(out, "),\n  table.header(");
    for (int c = 0; c < table->n_columns; c++) {
        if (c) text_puts(out, ", ");
        report_typst_string(out, table->columns[c].label);
    }
    text_puts(out, "),\n");
}

Status report_typst_table(Text *out, const Table *table)
{
    table_put_comments(out, table, "// ");
    if (table->n_columns == 0) return text_status(out);
    put_heading(out, table);
    for (size_t r = 0; r < table_rows(table); r++) {
        text_puts(out, "  ");
        for (int c = 0; c < table->n_columns; c++) {
            if (c) text_puts(out, " ");
            report_typst_string(out, table_at(table, r, c));
            text_puts(out, ",");
        }
        text_puts(out, "\n");
    }
    text_puts(out, ")\n");
    return text_status(out);
}

Status report_typst(Text *out, const ReportInput *input)
{
    return record_table_write(out, input, report_typst_table);
}
