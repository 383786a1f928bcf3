/* What can be said of rows that were not run: memory by the plan, times by what the same implementation reached in the
 * rows that were: {CELL: {FIGURE: x}}. Kept with the results, for another machine that makes the page has other rows
 * and other devices. */
#ifndef CLI_LIKE_EXPECTED_H
#define CLI_LIKE_EXPECTED_H

#include "bench/record_set.h"
#include "cli/like_cells.h"

/* Of the write-up's figures those that `rows` do not have. */
Status like_expected_fill(json_t *expected, int writeup, const LikeCells *cells,
                          const RecordSet *rows, const RecordSet *profiles);

/* Of a row that the clock did not come to: `status` and `message` where it would not fit or is not supported; `fits` is
 * the mode that would. NULL: it could be run. */
const Record *like_expected_reason(const json_t *expected, const Config *config);
/* NAN: none. */
double like_expected_figure(const json_t *expected, const char *path, const Config *config);

#endif
