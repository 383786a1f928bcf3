/* What was asked of a cell that is not run, under the names that results have (config/cell_fields.def). */
#pragma once

#include "bench/limits/placement.h"
#include "bench/record/record.h"

/* The cell with what it uses where it was left to the program: device, threads, attention. */
Config config_json_used(const Config *config, const Placement *placement, Attention attention);
/* `attention` is what --attention auto became. `unsupported` says why there is no placement; NULL:
 * there is one. */
Status config_json_put(json_t *json, const Config *config, const Placement *placement,
                       Attention attention, const char *unsupported);
