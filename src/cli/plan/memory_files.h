/* The files of `roofstep memory` beside its result: --snapshot and --svg, of a single cell. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "config/settings.h"
#include "config/sweep.h"

/* ST_USAGE when they are asked for and there are several cells. Before anything runs. */
Status memory_files_check(const Settings *settings, const Sweep *sweep);
Status memory_files_write(const Settings *settings, const MemoryCell *cell);
