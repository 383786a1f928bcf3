#include "base/escape.h"
#include "report/format/table_write.h"

static void put_text(Text *out, const char *text)
{
    text_puts(out, "\"");
    escape_put(out, ESCAPE_TYPST, text);
    text_puts(out, "\"");
}

/* Insets are in em, so that they shrink with the text. */
static void put_headings(Text *out, const Table *table)
{
    static const TableHeading heading = {put_text, "[#", " \\ #", "]"};
    if (table->title) {
        text_puts(out, "#figure(kind: table, caption: ");
        put_text(out, table->title);
        text_puts(out, ", ");
    }
    text_printf(out, "%slayout(room => {\nlet whole = table(\n  columns: %d,\n  inset: 0.45em,\n",
                table->title ? "" : "#", table->n_columns);
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

/* A table wider than the page is written smaller; a hair more than is needed, for cells break at
 * once. */
static void put_shrunk(Text *out, const Table *table)
{
    text_puts(out, "set text(size: calc.min(1, 0.99 * room.width / measure(whole).width) * 1em)\n"
                   "whole\n})");
    if (table->title) {
        text_puts(out, ") ");
        table_put_label(out, table, "<", ">");
    }
    text_puts(out, "\n");
}

static Status write_table(Text *out, const Table *table)
{
    table_put_comments(out, table, "// ");
    if (table->n_columns == 0) return text_status(out);
    put_headings(out, table);
    for (size_t r = 0; r < table_rows(table); r++) {
        text_puts(out, "  ");
        for (int c = 0; c < table->n_columns; c++) {
            if (c) text_puts(out, " ");
            put_text(out, table_at(table, r, c));
            text_puts(out, ",");
        }
        text_puts(out, "\n");
    }
    text_puts(out, ")\n");
    put_shrunk(out, table);
    return text_status(out);
}

const TableFormat table_typst = {.name = "typst",
                                 .write = write_table,
                                 .put_text = put_text,
                                 .ending = "typ",
                                 .document_begin =
                                     "#set page(paper: \"a3\", flipped: true, margin: 1cm)\n",
                                 .title_begin = "= #",
                                 .title_end = "\n\n"};
