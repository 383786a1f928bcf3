/* One cell of a sweep, from its config to what its record is made of. Runs in a process of its own
 * (bench/runner.h), because what it does may end that process. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include "bench/cell_link.h"

Status cell_run(const Config *config, CellLink *link);

#endif
