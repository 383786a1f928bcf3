/* What the parts of a suite run: as much as its time and the memory allow. */
#ifndef CLI_SUITE_SUITE_PLAN_H
#define CLI_SUITE_SUITE_PLAN_H

#include "bench/estimate/time_estimate.h"
#include "cli/suite/suite.h"

/* Settles the words and the expected time of every part after limits; `seconds` are left of the budget. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, double seconds);

/* What the words of a part may name: the options of its workloads, the user's model, device and limits. */
void suite_plan_options(SuitePartId part, OptionId list[OPTION_COUNT + 1]);

#endif
