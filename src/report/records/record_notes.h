/* What stands below a table of records. */
#pragma once

#include "bench/record/record_set.h"
#include "report/format/table.h"
#include "report/records/column.h"
#include "report/records/row_warnings.h"

/* "Common: ctx 512, batch 4": the settings that all rows share. */
void record_notes_common(Table *table, const RecordSet *set);
/* A line for each figure that needs one: what a time is and its ±, MFU, % of limit, peak. */
void record_notes_definitions(Table *table, const RecordSet *set);
/* The first of these. */
void record_notes_stat(Table *table, Stat stat);
/* Where limits were measured on a busy machine: another of these. */
void record_notes_busy(Table *table, const RecordSet *set);
/* The message of every row that is not ok (needed, available, short by); warnings; for every
 * environment the machine, its libraries, the build and the command line. `shown` tells of each
 * column whether the table has it. */
void record_notes_rows(Table *table, const RecordSet *set, const ColumnSet *shown,
                       const RowWarnings *warnings);

/* column_label(), or "result" where no column tells. */
void record_notes_label(Text *text, const ColumnSet *shown, const Record *record);
