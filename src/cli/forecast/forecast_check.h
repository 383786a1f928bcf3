/* forecast --check: what was measured beside what is forecast for it. */
#pragma once

#include "base/text.h"
#include "bench/forecast/efficiency.h"
#include "bench/record/record_set.h"

/* The rows of files that were measured, beside what is forecast for them; `limits` are of the device that
 * they ran on. ST_USAGE: no row can be forecast. */
Status forecast_check_write(Text *out, const char *format, const RecordSet *rows,
                            const Efficiency *efficiency, const Limits *limits);
