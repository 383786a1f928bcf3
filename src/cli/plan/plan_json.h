/* What is known of cells beforehand, for programs: JSON, and CSV made of the same names. */
#pragma once

#include "base/text.h"
#include "bench/estimate/plan_cell.h"

/* {"schema": 1, "plans": [...]}: one per cell. `machine`: another one that it is planned for, or NULL. */
Status plan_json_write(Text *out, const PlanCell *cells, int n, const Limits *machine);
/* One row per cell and limit. */
Status plan_json_csv(Text *out, const PlanCell *cells, int n, const Limits *machine);
