/* A table of text cells with notes below it: what the formats for people have in common.
 *
 * The first failure (memory) sticks, as in Text; table_status() tells. A zeroed Table is empty. */
#pragma once

#include "base/text.h"

enum { TABLE_MAX_COLUMNS = 80 };

typedef struct TableColumn {
    char *label;
    bool right; /* aligned */
} TableColumn;

typedef struct TableNote {
    char *text;
    char *code; /* follows the text, shown as code; NULL: none */
} TableNote;

typedef struct Table {
    const char *title; /* what it shows, in words; NULL: nobody says */
    TableColumn columns[TABLE_MAX_COLUMNS];
    int n_columns;
    char **cells; /* row by row */
    size_t n_cells;
    TableNote *notes;
    size_t n_notes;
    int spare[TABLE_MAX_COLUMNS]; /* columns that a narrow terminal hides, in this order */
    int n_spare;
    bool failed;
} Table;

/* "forward (ms)" of a label and a unit; unit may be "". */
void table_column(Table *table, const char *label, const char *unit, bool right);
/* Columns by their labels, a unit in brackets where there is one: the first `n_left` aligned
 * left. NULL ends them. */
void table_columns(Table *table, int n_left, const char *const *labels);
#define TABLE_COLUMNS(table, n_left, ...) \
    table_columns((table), (n_left), (const char *const[]){__VA_ARGS__, NULL})
/* Names columns that a narrow terminal hides, in this order. Headings that the table lacks are
 * ignored. NULL ends them. */
void table_spare(Table *table, const char *const *headings);
#define TABLE_SPARE(table, ...) table_spare((table), (const char *const[]){__VA_ARGS__, NULL})
/* The next cell, "-" for NULL; a row is full after as many as there are columns. */
void table_cell(Table *table, const char *text);
void table_dashes(Table *table, int n); /* the next n cells are "-" */
/* The next cells, each as table_cell() takes it. */
void table_cells(Table *table, const char *const *texts, size_t n);
#define TABLE_CELLS(table, ...)                              \
    table_cells((table), (const char *const[]){__VA_ARGS__}, \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
void table_cell_printf(Table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next two cells: a row of a table of names and values. */
void table_fact(Table *table, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A number in its format, "-" for NAN. */
void table_cell_number(Table *table, const char *fmt, double x)
    __attribute__((format(printf, 2, 0)));
/* What the text holds is the next cell, or a note unless it is empty. Both leave the text empty
 * and without memory. */
void table_cell_text(Table *table, Text *text);
void table_note_text(Table *table, Text *text);
void table_note(Table *table, const char *text);
void table_note_code(Table *table, const char *text, const char *code); /* may be NULL */
void table_note_printf(Table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_free(Table *table);
Status table_status(const Table *table);

size_t table_rows(const Table *table);
const char *table_at(const Table *table, size_t row, int column);

/* How a format writes a text, and what stands around and between two lines of it. */
typedef struct TableHeading {
    void (*put)(Text *out, const char *text);
    const char *begin, *between, *end;
} TableHeading;

/* Appends a column's heading; a long one with a unit has it on a line of its own: "attention a
 * step", "(ms)". */
void table_put_heading(Text *out, const char *label, const TableHeading *as);

/* Appends the title as a name to refer to the table by, "tab:time-of-each-phase" between `begin` and `end`;
 * with a number where `out` has one of that name. */
void table_put_label(Text *out, const Table *table, const char *begin, const char *end);

/* Appends the notes as comment lines that start with `prefix`. */
void table_put_comments(Text *out, const Table *table, const char *prefix);
