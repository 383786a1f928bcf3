/* The columns of tables for people (columns.def), and which of them a set of records needs. */
#pragma once

#include "bench/record/record_set.h"

typedef enum ColumnKind {
    COLUMN_WORD,
    COLUMN_WHOLE,
    COLUMN_COUNT,
    COLUMN_SIGNIFICANT,
    COLUMN_FIXED,
    COLUMN_PERCENT,
    COLUMN_TIME,
    COLUMN_RATIO,
    COLUMN_SPEEDUP,
    COLUMN_STATUS
} ColumnKind;

typedef enum ColumnShow {
    COLUMN_ALWAYS,
    COLUMN_VARIES,
    COLUMN_AXIS,
    COLUMN_CUSTOM,
    COLUMN_PRESENT,
    COLUMN_NONZERO,
    COLUMN_LESS,
    COLUMN_FEWER
} ColumnShow;

typedef struct Column {
    bool identity;
    const char *path, *label, *unit;
    ColumnKind kind;
    int digits;
    ColumnShow show;
} Column;

extern const Column column_list[];
extern const int column_count;

enum { COLUMN_TEXT = 128 };

/* What a row has in this column: what was used, or what was asked for where that is not known (it
 * never ran). False when it has no such field. */
bool column_text(const Column *column, const Record *record, char text[COLUMN_TEXT]);
/* What was used; "auto" and 0 threads, which a row that never ran keeps, are not known. */
bool column_used(const Column *column, const Record *record, char text[COLUMN_TEXT]);
/* The value as it was asked for (`auto`), where that is known. */
bool column_asked(const Column *column, const Record *record, char text[COLUMN_TEXT]);
/* Asked for or used. */
bool column_has(const Column *column, const Record *record, const char *value);
/* The two rows were asked to differ in it; where that is not recorded, they are known to. */
bool column_differs(const Column *column, const Record *a, const Record *b);
bool column_varies(const Column *column, const RecordSet *set);
/* The one value of a column that is not shown, if all rows that know it agree: for the note of
 * common settings. */
bool column_common(const Column *column, const RecordSet *set, char value[COLUMN_TEXT]);
/* Only part of the row fitted in memory: its step has a smaller mode than the one asked for. */
bool column_measured_less(const Record *record);
/* Marks the columns that set the rows of a set apart. */
void column_distinct(bool *shown, const RecordSet *set);
/* Speed-up columns are shown with a baseline only. */
bool column_shown(const Column *column, const RecordSet *set, bool baseline);
