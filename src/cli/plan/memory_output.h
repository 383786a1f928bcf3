/* Where the bytes of cells go: as tables for people, and for programs. */
#pragma once

#include "bench/estimate/memory_cell.h"
#include "cli/command.h"

/* A single cell with its profile: memory at the peaks by use, the largest tensors, one block. */
Status memory_tables_one(Text *out, const char *format, const Settings *settings,
                         const Sweep *sweep, const MemoryCell *cell);
/* One row per cell: forward alone beside the cell's mode. */
Status memory_tables_many(Text *out, const char *format, const Sweep *sweep,
                          const MemoryCell *cells);
/* Of cells whose step ranks share what each rank holds, and when; nothing where there are none. */
Status memory_ranks_tables(Text *out, const char *format, const Sweep *sweep,
                           const MemoryCell *cells);
/* The ranks of a cell as they were measured, or one that stands for all, by plan. array_free() frees the
 * list. */
Status memory_ranks_tables_of(MemoryRanks *ranks, const MemoryCell *cell);
/* Of a single cell, whose profile was kept, every block of memory too. */
Status memory_json_write(Text *out, const MemoryCell *cells, int n, json_t *environment);
