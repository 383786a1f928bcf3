#include "report/records/report_typst.h"

#include "base/escape.h"
#include "report/records/record_table.h"

void report_typst_string(Text *out, const char *text)
{
    text_puts(out, "\"");
    escape_put(out, ESCAPE_TYPST, text);
    text_puts(out, "\"");
}

/* Its insets are those of the text, so that the whole becomes smaller with it. */
static void put_headings(Text *out, const Table *table)
{
    static const TableHeading heading = {report_typst_string, "[#", " \\ #", "]"};
    text_printf(out, "#layout(room => {\nlet whole = table(\n  columns: %d,\n  inset: 0.45em,\n",
                table->n_columns);
    text_puts(out, "  align: (");
    for (int c = 0; c < table->n_columns; c++) {
        text_puts(out, table->columns[c].right ? "right, " : "left, ");
    }
    text_puts(out, "),\n  table.header(");
    for (int c = 0; c < table->n_columns; c++) {
        if (c) text_puts(out, ", ");
        table_put_heading(out, table->columns[c].label, &heading);
    }
    text_puts(out, "),\n");
}

/* A table wider than the page is written smaller; a hair more than is needed, for cells break at once. */
static void put_shrunk(Text *out)
{
    text_puts(out, "set text(size: calc.min(1, 0.99 * room.width / measure(whole).width) * 1em)\n"
                   "whole\n})\n");
}

Status report_typst_table(Text *out, const Table *table)
{
    table_put_comments(out, table, "// ");
    if (table->n_columns == 0) return text_status(out);
    put_headings(out, table);
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
    put_shrunk(out);
    return text_status(out);
}

Status report_typst(Text *out, const ReportInput *input)
{
    return record_table_write(out, input, report_typst_table);
}
