/* What a suite leaves: one page, its tables, all results in one file, and ten lines for people. */
#ifndef CLI_SUITE_SUITE_FINISH_H
#define CLI_SUITE_SUITE_FINISH_H

#include "cli/suite/suite.h"

/* From the parts that are there; those that are not are named. Appends the summary to `summary`. *whole: nothing but the
 * suite's own budget and the memory left anything out. */
Status suite_finish(const Suite *suite, const char *command_line, Text *summary, bool *whole);

#endif
