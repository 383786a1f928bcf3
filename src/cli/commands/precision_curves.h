/* `precision --curve N`: cells that train on text. */
#pragma once

#include "cli/command.h"

/* `cells` has room for one more than the n. */
Status precision_curves_run(const Settings *settings, Config *cells, int n, const bool *varies,
                            int *exit_code);
/* ST_USAGE: an option was given that is of curves alone. */
Status precision_curves_refuse(const Settings *settings);
