/* What a step of several ranks takes, by the plan: a row for each cell. */
#pragma once

#include "bench/record/record.h"
#include "cli/plan/plan_output.h"
#include "report/format/table.h"

/* Whether any cell has ranks. */
bool forecast_table_wanted(const PlanTables *tables);
void forecast_table_fill(Table *table, const PlanTables *tables);
/* The same figures in a plan's object, under "forecast". */
Status forecast_table_json(json_t *json, const PlanCell *cell);
