/* The cells of `roofstep memory` run for real, each in a process of its own. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "bench/record/record_set.h"
#include "config/sweep.h"

/* Runs two steps of every cell, and of several cells the forward pass alone too, and gives each its
 * records, which belong to `rows`. *exit_code is set as bench sets it. */
Status memory_measure(MemoryCell *cells, const Sweep *sweep, RecordSet *rows, int *exit_code);
