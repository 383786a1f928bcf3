/* What the machine was like in each start of compare --live. */
#pragma once

#include "cli/live/live.h"

const char *live_conditions_label(LiveCondition condition); /* "CPU clock (MHz)" */
const char *live_conditions_name(LiveCondition condition);  /* "cpu_clock_mhz" */

/* Notes them for the side's last start, whose rows it has. */
void live_conditions_take(LiveSide *side);
/* The median of all starts; NAN: not told. */
double live_conditions_median(const LiveSide *side, LiveCondition condition);
