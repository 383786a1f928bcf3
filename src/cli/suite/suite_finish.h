/* Writes what a finished suite leaves: one page, its tables, all results in one file, and a summary. */
#pragma once

#include "cli/suite/suite.h"

/* Uses the parts that have results and names the others. Appends to `summary`. *whole: only the suite's
 * own budget or the memory left anything out. */
Status suite_finish(const Suite *suite, const char *command_line, Text *summary, bool *whole);
