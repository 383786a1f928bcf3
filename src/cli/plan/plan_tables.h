/* What is known of cells beforehand, as tables for people. */
#pragma once

#include "bench/estimate/plan_cell.h"
#include "cli/command.h"
#include "report/format/table.h"

typedef struct PlanTables {
    const Sweep *sweep;
    const PlanCell *cells;
    const Limits *machine; /* another one that it is planned for; NULL: this one */
    bool whole;            /* the limit of memory is what the machine has */
} PlanTables;

/* One row per cell, then one per cell and limit; of a single cell also its cost by phase and its
 * memory by kind. */
Status plan_tables_write(Text *out, const char *format, const PlanTables *tables);
