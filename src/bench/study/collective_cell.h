/* A collective alone, in one of the ranks of its cell: checked element by element, then timed in
 * turn with the MPI library's own call on the same memory. */
#pragma once

#include "bench/measure/rank_process.h"

RankCell collective_cell_run;

/* Bus bandwidth by algorithm bandwidth, as nccl-tests define the two: what a link carries,
 * whatever the number of ranks. */
double collective_cell_bus_factor(Collective op, int64_t ranks);
