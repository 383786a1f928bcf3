/* The columns of tables for people (columns.def), and which of them a set of records needs. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

typedef enum ColumnKind {
    COLUMN_WORD,
    COLUMN_WHOLE,
    COLUMN_COUNT,
    COLUMN_SIGNIFICANT,
    COLUMN_SI,
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
    COLUMN_REPEATS,
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

enum { COLUMN_TEXT = 128, COLUMN_MOST = 96 };

extern const Column column_list[]; /* COLUMN_MOST at most */
extern const int column_count;

/* Some of them. */
typedef struct ColumnSet {
    bool has[COLUMN_MOST];
} ColumnSet;

/* What a row has in this column: what was used, or what was asked for where that is not known (it
 * never ran). False when it has no such field. */
bool column_text(const Column *column, const Record *record, char text[COLUMN_TEXT]);
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
/* The columns that set the rows of a set apart. It looks through all rows. */
ColumnSet column_distinct(const RecordSet *set);
void column_leave_out(ColumnSet *columns, const char *path);
/* Appends "small, ctx 512, precision bf16": the row by these columns. False: it has none of them. */
bool column_label(Text *out, const ColumnSet *columns, const Record *record);
/* Speed-up columns are shown with a baseline only. */
bool column_shown(const Column *column, const RecordSet *set, bool baseline);
