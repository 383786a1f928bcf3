/* Forecasts beside what was measured, with their errors. */
#pragma once

#include "base/text.h"
#include "cli/forecast/forecast_check.h"

/* In every format of reports.def. ST_USAGE: there is no row. */
Status forecast_check_output_write(Text *out, const char *format, const ForecastChecks *checks);
