/* The one thing to take away from planned cells: the sentence that ends their tables. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "cli/plan/plan_output.h"

/* Of a sweep over ranks the fastest forecast; otherwise what fits, or what would make it. */
void plan_conclusion_put(Text *out, const PlanTables *tables);
/* Of one cell where its peak is and what it is made of, of several the one with the highest. */
void plan_conclusion_memory(Text *out, const Sweep *sweep, const MemoryCell *cells);
