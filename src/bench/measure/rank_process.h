/* A process that a launcher started as one of the ranks of a cell. It runs the cell in a child
 * of its own and watches that: how a rank ended is then known to this program, whichever
 * launcher and MPI there are. */
#pragma once

#include "bench/measure/cell_link.h"
#include "config/settings.h"

/* What a rank of a cell runs. */
typedef Status RankCell(const Settings *settings, const Config *config, CellLink *link);

/* Messages of rank 0 go to stdout. How a rank ended is printed as a RankReport. Returns the exit code. */
int rank_process_run(const Settings *settings, const Config *config, RankCell *cell);
