/* suite --like NAME: the rows of a write-up run here, its published figures beside ours. */
#ifndef CLI_PUBLISHED_PUBLISHED_SUITE_H
#define CLI_PUBLISHED_PUBLISHED_SUITE_H

#include "cli/command.h"

/* Rows that are finished in the folder are kept; those beyond the budget are told by the plan. */
Status published_suite_run(const Settings *settings, const Sweep *sweep, int *exit_code);

#endif
