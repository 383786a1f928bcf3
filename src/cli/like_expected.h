/* What the plan and the limits of the machine that ran a suite say of rows that it did not run: {CELL: {FIGURE: x}}.
 * Kept with the results, for another machine that makes the page has other limits and other devices. */
#ifndef CLI_LIKE_EXPECTED_H
#define CLI_LIKE_EXPECTED_H

#include "bench/record_set.h"
#include "bench/suite_cost.h"
#include "cli/like_cells.h"

/* Of the write-up's figures those that `rows` do not have. */
Status like_expected_fill(json_t *expected, int writeup, const LikeCells *cells,
                          const RecordSet *rows, const SuiteRates *rates);

/* NAN: none. */
double like_expected_figure(const json_t *expected, const char *path, const Config *config);

#endif
