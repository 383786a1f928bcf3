/* What is known of cells beforehand, as tables for people. */
#ifndef CLI_PLAN_TABLES_H
#define CLI_PLAN_TABLES_H

#include "bench/plan_cell.h"
#include "cli/command.h"
#include "report/table.h"

typedef Status PlanTableWriter(Text *out, const Table *table); /* report_md_table and its like */

/* One row per cell, then one per cell and limit; of a single cell also its cost by phase and its
 * memory by kind. */
Status plan_tables_write(Text *out, PlanTableWriter *writer, const Settings *settings,
                         const Sweep *sweep, const PlanCell *cells);

#endif
