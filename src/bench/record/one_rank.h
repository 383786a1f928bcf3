/* What one rank alone was measured to take: to forecast, and to judge, what several take. */
#pragma once

#include "bench/record/record_set.h"

/* The last row of one rank that was measured with the work, device and threads of a rank of `like`; borrowed.
 * NULL: there is none. */
const Record *one_rank_find(const RecordSet *rows, const Record *like);
/* The time of its step, by its statistic. False: there is no such row. */
bool one_rank_ms(const RecordSet *rows, const Record *like, double *ms);
