/* suite --like NAME: the rows of a write-up run here, its published figures beside ours. */
#ifndef CLI_SUITE_LIKE_H
#define CLI_SUITE_LIKE_H

#include "cli/command.h"

/* Rows that are finished in the folder are kept; those beyond the budget are told by the plan. */
Status suite_like_run(const Settings *settings, const Sweep *sweep, int *exit_code);

#endif
