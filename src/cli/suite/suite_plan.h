/* Chooses the workload of every part: as much as time and memory allow. */
#pragma once

#include "bench/estimate/time_estimate.h"
#include "cli/suite/suite.h"

/* Fills the arguments and the expected time of every part after limits; `seconds` are left of the budget. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, double seconds);
