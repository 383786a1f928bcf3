/* What all cells of a sweep have in common, of what decides a plan, as a note below a table. */
#pragma once

#include "bench/limits/placement.h"
#include "config/sweep.h"
#include "report/format/table.h"

/* `config` is a cell of the sweep. `placement` is NULL where it cannot run; otherwise `attention` is what
 * `auto` became. */
void sweep_note(Table *table, const Sweep *sweep, const Config *config, const Placement *placement,
                Attention attention);
