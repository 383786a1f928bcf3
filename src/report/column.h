/* The columns of tables for people (columns.def), and which of them a set of records needs. */
#ifndef REPORT_COLUMN_H
#define REPORT_COLUMN_H

#include "bench/record_set.h"

typedef enum ColumnKind {
    COLUMN_WORD,
    COLUMN_WHOLE,
    COLUMN_COUNT,
    COLUMN_SIGNIFICANT,
    COLUMN_FIXED,
    COLUMN_PERCENT,
    COLUMN_MEAN,
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
    COLUMN_NONZERO
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

/* What was asked for in this column, as text; false when the record has no such field. */
enum { COLUMN_TEXT = 128 };
bool column_asked(const Column *column, const Record *record, char text[COLUMN_TEXT]);
/* The same of what was used; "auto" and 0 threads, which a row that never ran keeps, are none. */
bool column_used(const Column *column, const Record *record, char text[COLUMN_TEXT]);
/* Two rows were asked to differ in it. */
bool column_varies(const Column *column, const RecordSet *set);
/* Speed-up columns are shown with a baseline only. */
bool column_shown(const Column *column, const RecordSet *set, bool baseline);

#endif
