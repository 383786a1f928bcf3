/* What a suite leaves: one page, its tables, all results in one file, and ten lines for people. */
#ifndef CLI_SUITE_FINISH_H
#define CLI_SUITE_FINISH_H

#include "cli/suite.h"

/* From the parts that are there; those that are not are named. Appends the summary to `summary`. */
Status suite_finish(const Suite *suite, const char *command_line, Text *summary);

#endif
