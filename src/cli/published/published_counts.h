/* How far a write-up's rows are: what was measured, and why the others were not. */
#ifndef CLI_PUBLISHED_PUBLISHED_COUNTS_H
#define CLI_PUBLISHED_PUBLISHED_COUNTS_H

#include "cli/published/published_tables.h"

/* "Of its 79 rows 30 were measured, 3 did not fit, 35 are unsupported, 11 had no time." A cell that several tables have
 * is counted once, a profile as a row. */
Status published_counts_put(Text *out, const PublishedResults *results, int writeup);

#endif
