/* forecast --check published:NAME: what others measured and published beside what is forecast for it. Nothing
 * is ever fitted to their figures. */
#pragma once

#include "cli/forecast/forecast_check.h"

/* The name behind "published:"; NULL: the argument is a file. */
const char *published_forecast_name(const char *argument);
/* Every time of a phase in the tables of that write-up whose rows are steps, on the GPUs that it names, or on
 * `machine` unless that is NULL. */
Status published_forecast_checks(ForecastChecks *checks, const char *name,
                                 const Efficiency *efficiency, EfficiencyProgram program,
                                 const Limits *machine);
