/* A process that a launcher started as one of the ranks of a cell. It runs the cell in a child
 * of its own and watches that: how a rank ended is then known to this program, whichever
 * launcher and MPI there are. */
#pragma once

#include "bench/measure/cell_link.h"

/* Messages of rank 0 go to stdout. How a rank ended is printed as a RankReport. Returns the exit code. */
int rank_process_run(const Config *config, Status (*cell)(const Config *config, CellLink *link));
