/* A cell whose nodes are NVTX ranges, for another profiler to see; the measured loop is `measure_loop`. */
#pragma once

#include "bench/cell/cell.h"

/* RunnerCells. The second has the parts of attention too. */
Status annotated_cell_run(const Config *config, CellLink *link);
Status annotated_cell_run_parts(const Config *config, CellLink *link);
