/* suite --like NAME: runs the rows of a write-up and shows its published figures beside ours. */
#pragma once

#include "cli/command.h"

/* Keeps the rows that are finished in the folder; rows beyond the budget get estimates. */
Status published_suite_run(const Settings *settings, const Sweep *sweep, int *exit_code);
