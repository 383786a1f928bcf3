/* What is known of cells beforehand, for programs: JSON, and CSV made of the same names. */
#ifndef CLI_PLAN_JSON_H
#define CLI_PLAN_JSON_H

#include "base/text.h"
#include "bench/plan_cell.h"

/* {"schema": 1, "plans": [...]}: one per cell. */
Status plan_json_write(Text *out, const PlanCell *cells, int n);
/* One row per cell and limit. */
Status plan_json_csv(Text *out, const PlanCell *cells, int n);

#endif
