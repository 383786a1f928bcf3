/* Where another precision than fp32 gains, in sentences; nothing where no two rows differ in it
 * alone. */
#pragma once

#include "bench/record/record_set.h"
#include "report/format/table.h"

/* "bf16 instead of fp32: the step is 1.14 times as fast (small), 1.27 (medium). Of the slowest
 * (medium): forward 1.40 times, backward 1.30 times, optimizer 1.00 times, peak memory +3 %."
 * For each precision. */
void precision_gain_rows(Text *out, const RecordSet *rows);
/* The same as a note below a table. */
void precision_gain_note(Table *table, const RecordSet *rows);
/* The same by op category, of the first pair of profiles. */
void precision_gain_ops(Text *out, const RecordSet *profiles);
