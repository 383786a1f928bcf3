/* The warnings of a table's rows. Those that differ in their numbers only are one line, "samples
 * vary by 6 to 14 %", and a mark on each row that it is about. */
#pragma once

#include "bench/record/record_set.h"
#include "report/format/table.h"

enum { ROW_WARNINGS_KINDS = 12, ROW_WARNINGS_NUMBERS = 8 };

/* A number of a warning, with its unit if it is one of time, over all rows of its kind. */
typedef struct WarningNumber {
    double least, most;
    char least_text[24], most_text[24];
} WarningNumber;

typedef struct WarningKind {
    const char *text; /* of the first row that has it; belongs to the set */
    WarningNumber numbers[ROW_WARNINGS_NUMBERS];
} WarningKind;

typedef struct RowWarnings {
    WarningKind kinds[ROW_WARNINGS_KINDS];
    int n;
    bool more;     /* some found no room: they are in json and csv */
    bool unmarked; /* the whole table is about one cell: there is no row to mark */
} RowWarnings;

/* The set outlives them. */
void row_warnings_find(RowWarnings *warnings, const RecordSet *set);
/* Appends the row's marks, " (1, 2)"; nothing where it has none. */
void row_warnings_mark(const RowWarnings *warnings, const Record *row, Text *out);
/* A note for each kind: "(1) warning: ...", without the number where rows are unmarked. */
void row_warnings_put(const RowWarnings *warnings, Table *table);
