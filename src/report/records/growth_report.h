/* How times and memory grow over the sweeps in a set of results, for people. */
#pragma once

#include "bench/record/growth.h"
#include "report/format/table.h"

/* Appends a table of all laws, below what is there; nothing without a sweep. */
Status growth_report_write(Text *out, const char *format, const RecordSet *set);

/* One law: "ctx^1.98 ± 0.03 from ctx 512 on, below it a floor of 0.021 ms", "8.03 KiB x ctx + 64
 * B x ctx^2". */
void growth_report_law(Text *out, const GrowthSweep *sweep, const GrowthLaw *law);
/* Which columns set the sweeps of a set apart. It looks through all of it, so once for all sweeps. */
typedef struct GrowthNames {
    bool shown[TABLE_MAX_COLUMNS];
} GrowthNames;
GrowthNames growth_report_names(const RecordSet *set);
/* All laws of a sweep in a sentence: "naive: forward grows as ctx^1.98 ± 0.03; ...". */
void growth_report_sentence(Text *out, const GrowthNames *names, const GrowthSweep *sweep);
