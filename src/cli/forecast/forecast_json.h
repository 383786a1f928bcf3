/* Forecasts of steps for programs: JSON, and rows as csv, jsonl and sql. */
#pragma once

#include "cli/forecast/forecast_output.h"

bool forecast_json_has_format(const char *format);
Status forecast_json_write(Text *out, const char *format, const ForecastOutput *forecasts);
