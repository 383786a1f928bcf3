/* A collective alone, in one of the ranks of its cell: checked element by element, then timed in
 * turn with the MPI library's own call on the same memory. */
#pragma once

#include "bench/measure/rank_process.h"

RankCell collective_cell_run;
