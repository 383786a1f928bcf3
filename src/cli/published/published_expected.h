/* What can be said of rows that were not run: memory by the plan, times by what the same implementation reached in the
 * rows that were: {CELL: {FIGURE: x}}. Kept with the results, for another machine that makes the page has other rows
 * and other devices. */
#ifndef CLI_PUBLISHED_PUBLISHED_EXPECTED_H
#define CLI_PUBLISHED_PUBLISHED_EXPECTED_H

#include "bench/record/record_set.h"
#include "cli/published/published_cells.h"

/* Of the write-up's figures those that `rows` do not have. */
Status published_expected_fill(json_t *expected, int writeup, const PublishedCells *cells,
                               const RecordSet *rows, const RecordSet *profiles);

/* Of a row that the clock did not come to: `status` and `message` where it would not fit or is not supported; `fits` is
 * the mode that would. NULL: it could be run. */
const Record *published_expected_reason(const json_t *expected, const Config *config);
/* NAN: none. */
double published_expected_figure(const json_t *expected, const char *path, const Config *config);

#endif
