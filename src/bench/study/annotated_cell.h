/* A cell whose nodes are NVTX ranges, for another profiler to see; the measured loop is `measure_loop`. */
#ifndef BENCH_STUDY_ANNOTATED_CELL_H
#define BENCH_STUDY_ANNOTATED_CELL_H

#include "bench/cell/cell.h"

/* RunnerCells. The second has the parts of attention too. */
Status annotated_cell_run(const Config *config, CellLink *link);
Status annotated_cell_run_parts(const Config *config, CellLink *link);

#endif
