/* Runs the parts of a suite, each as a process of this program: whatever happens to one, the others go on. */
#ifndef CLI_SUITE_SUITE_RUN_H
#define CLI_SUITE_SUITE_RUN_H

#include "cli/suite/suite.h"

/* Those that are not done, in their order, the plan made after limits; suite.json is written after each.
 * *signal is what stopped it, or 0. */
Status suite_run(Suite *suite, int *signal);

/* The roof that the limits part found, for the plan; what it could not find is guessed. */
Status suite_run_plan(Suite *suite);
/* The same before the limits have been measured: by those that are stored, or else by guesses, and `*known` is false.
 * No part can be run by this process afterwards. */
Status suite_run_preview(Suite *suite, bool *known);
/* Seconds that the part will take; of the limits, none where they are stored already. */
double suite_run_expected(const Suite *suite, SuitePartId id, bool stored);

#endif
