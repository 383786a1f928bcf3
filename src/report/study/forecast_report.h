/* Forecasts that a file of roofstep forecast holds, as a table. */
#pragma once

#include "base/text.h"

#include <jansson.h>

/* `forecasts` is the list in the file, whatever is in it. */
Status forecast_report_write(Text *out, const char *format, const json_t *forecasts);
