/* Cost, memory and fit of planned cells: as tables for people, and for programs. */
#pragma once

#include "bench/estimate/plan_cell.h"
#include "cli/command.h"

typedef struct PlanTables {
    const Sweep *sweep;
    const PlanCell *cells;
    const Limits *machine; /* the machine to plan for; NULL: this one */
} PlanTables;

/* One row per cell, then one per cell and memory limit; for a single cell also cost by phase and
 * memory by kind. */
Status plan_tables_write(Text *out, const char *format, const PlanTables *tables);
/* {"schema": 1, "plans": [...]}: one per cell. `machine`: another one that it is planned for, or NULL. */
Status plan_json_write(Text *out, const PlanCell *cells, int n, const Limits *machine);
/* The same names as CSV: one row per cell and limit. */
Status plan_json_csv(Text *out, const PlanCell *cells, int n, const Limits *machine);
