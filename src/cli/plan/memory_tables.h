/* Memory of cells by use, as tables for people. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "cli/command.h"

/* A single cell with its profile: memory at the peaks by use, the largest tensors, one block. */
Status memory_tables_one(Text *out, const char *format, const Settings *settings,
                         const Sweep *sweep, const MemoryCell *cell);
/* One row per cell: forward alone beside the cell's mode. */
Status memory_tables_many(Text *out, const char *format, const Sweep *sweep,
                          const MemoryCell *cells);
