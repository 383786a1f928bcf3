/* Two steps of a cell with an observer of its memory: what `roofstep memory` measures. */
#ifndef BENCH_STUDY_MEMORY_RUN_H
#define BENCH_STUDY_MEMORY_RUN_H

#include "bench/measure/cell_link.h"

/* A RunnerCell. Beside what every record has it tells `memory_trace`: for each of the two steps, of each
 * node of the plan, when it began (start_us) and what was held after it (held_mib), null where it did
 * not run. */
Status memory_run_cell(const Config *config, CellLink *link);

#endif
