/* Two steps of a cell with an observer of its memory: what `roofstep memory` measures. */
#pragma once

#include "bench/measure/cell_link.h"

/* A RunnerCell. Beside what every record has it tells `memory_trace`: for each of the two steps, of each
 * node of the plan, when it began (start_us) and what was held after it (held_mib), null where it did
 * not run. */
Status memory_run_cell(const Config *config, CellLink *link);
