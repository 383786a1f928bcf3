/* What stands below a table of records. */
#ifndef REPORT_RECORD_NOTES_H
#define REPORT_RECORD_NOTES_H

#include "bench/record_set.h"
#include "report/table.h"

/* Common settings; the message of every row that is not ok (needed, available, short by); stored
 * warnings; for every environment the machine, its libraries, the build and the command line. `shown`
 * tells of each column whether the table has it. */
void record_notes_put(Table *table, const RecordSet *set, const bool *shown);

/* The first of these: "Common: ctx 512, batch 4". */
void record_notes_common(Table *table, const RecordSet *set);
/* "small, ctx 512, precision bf16": the row by what sets it apart. */
void record_notes_label(Text *text, const bool *shown, const Record *record);

#endif
