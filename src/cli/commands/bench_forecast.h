/* Beside what several ranks took, what one rank and the links between them promise: predicted_step_ms. */
#pragma once

#include "bench/record/record_set.h"
#include "config/settings.h"

/* Puts it into a row of several ranks where a row of one with the same work and threads is among `rows` or
 * `known`, and the limits of this machine are stored. Measures the links once. Opens no device. */
Status bench_forecast_add(Record *row, const Config *config, const Settings *settings,
                          const RecordSet *rows, const RecordSet *known);
