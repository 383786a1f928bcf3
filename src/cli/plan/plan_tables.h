/* Cost, memory and fit of planned cells, as tables for people. */
#pragma once

#include "bench/estimate/plan_cell.h"
#include "cli/command.h"
#include "report/format/table.h"

typedef struct PlanTables {
    const Sweep *sweep;
    const PlanCell *cells;
    const Limits *machine; /* the machine to plan for; NULL: this one */
    bool whole;            /* the memory limit is the machine's whole memory */
} PlanTables;

/* One row per cell, then one per cell and memory limit; for a single cell also cost by phase and
 * memory by kind. */
Status plan_tables_write(Text *out, const char *format, const PlanTables *tables);
