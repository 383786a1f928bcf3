/* Where the bytes of cells go, as tables for people. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "cli/plan/plan_tables.h"

/* A single cell, whose profile was kept: the fullest moments by use, the largest tensors, a block. */
Status memory_tables_one(Text *out, const char *format, const Settings *settings,
                         const Sweep *sweep, const MemoryCell *cell);
/* One row per cell: forward against the mode asked for. */
Status memory_tables_many(Text *out, const char *format, const Sweep *sweep,
                          const MemoryCell *cells);
