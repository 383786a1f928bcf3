/* Tables in the formats for people (reports.def), and as the page takes them: the one place that
 * chooses a format. */
#pragma once

#include "report/format/table.h"

/* A format, defined in table_NAME.c as `table_NAME`. */
typedef struct TableFormat {
    const char *name;
    Status (*write)(Text *out, const Table *table);
    void (*put_text)(Text *out, const char *text); /* escaped */
    /* A folder of tables (report --tables) has a file for each part, and one document with all
     * of them. NULL: nothing. */
    const char *ending; /* of its files; NULL: no such folder has this format */
    const char *part_begin, *part_end;
    const char *document_begin, *document_end;
    const char *title_begin, *title_end, *after_tables; /* of each part in the document */
} TableFormat;

#define TABLE_WRITE_TABLE(name) extern const TableFormat table_##name;
#define TABLE_WRITE_RECORDS(name)
#define REPORT(kind, name, ending, help) TABLE_WRITE_##kind(name)
#include "report/format/reports.def"
extern const TableFormat table_page;

/* Every format; NULL ends the list. */
extern const TableFormat *const table_write_formats[];

/* Appends the table in the format called `format`: "md", "latex", "typst", "page". */
Status table_write(Text *out, const char *format, const Table *table);
/* The same of a table that is complete: after a blank line if `out` holds something, and frees
 * the table. A table without rows is left out. */
Status table_write_next(Text *out, const char *format, Table *table);
/* Appends the one thing to take away from all tables, a sentence, as the last paragraph. Only people
 * who read the text as it is need it ("md"): other formats leave it out. Frees the sentence. */
Status table_write_conclusion(Text *out, const char *format, Text *sentence);
