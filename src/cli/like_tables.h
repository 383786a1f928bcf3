/* The tables of a write-up with its figures and ours. */
#ifndef CLI_LIKE_TABLES_H
#define CLI_LIKE_TABLES_H

#include "bench/record_set.h"
#include "bench/suite_cost.h"
#include "cli/like.h"

/* `cells` has the config of every row of like_rows; those of other write-ups are not looked at. Rows that
 * `rows` does not have get the plan's figures, marked. */
Status like_tables_write(Text *out, int writeup, const Config *cells, const RecordSet *rows,
                         const SuiteRates *rates);

#endif
