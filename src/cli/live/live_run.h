/* Starts both sides in turn until the verdict is sure or the budget is spent. */
#pragma once

#include "cli/live/live.h"

/* Both sides of `live` have their words. After Ctrl-C live->signal is set and what was measured
 * counts. The caller frees it with live_run_free(), after a failure too. */
Status live_run(Live *live);
void live_run_free(Live *live);
