/* Two steps of a cell with an observer of its memory: what `roofstep memory` measures. */
#pragma once

#include "bench/measure/rank_process.h"

/* A RunnerCell. Beside what every record has it tells `memory_trace`: for each of the two steps, of each
 * node of the plan, when it began (start_us) and what was held after it (held_mib), null where it did
 * not run. */
Status memory_run_cell(const Config *config, CellLink *link);
/* The same as one of the ranks that share the step: `memory_ranks`, too (bench/estimate/memory_rank.h). */
RankCell memory_run_as_rank;
