/* Runs the parts of a suite, each in its own process: when one fails, the others still run. */
#pragma once

#include "cli/suite/suite.h"

/* Runs the parts that are not done, in order, and writes suite.json after each. The plan is made after
 * limits. *signal is the signal that stopped it, or 0. */
Status suite_run(Suite *suite, int *signal);

/* Plans before the limits are measured: by stored limits, or else by guesses, and `*known` is false. This
 * process can run no part afterwards. */
Status suite_run_preview(Suite *suite, bool *known);
/* Expected seconds of the part; 0 for limits that are `stored`. */
double suite_run_expected(const Suite *suite, SuitePartId id, bool stored);
