/* How times and memory grow over the sweeps in a set of results, for people. */
#pragma once

#include "bench/record/growth.h"
#include "report/records/column.h"

/* Appends a table of all laws, below what is there; nothing without a sweep. */
Status growth_report_write(Text *out, const char *format, const RecordSet *set);

/* All laws of a sweep in a sentence: "naive: forward grows as ctx^1.98 ± 0.03; ...". `names` is the
 * column_distinct() of all rows. */
void growth_report_sentence(Text *out, const ColumnSet *names, const GrowthSweep *sweep);
