/* Where the bytes of cells go, for programs. */
#pragma once

#include "base/text.h"
#include "bench/estimate/memory_cell.h"

/* Of a single cell, whose profile was kept, every block of memory too. */
Status memory_json_write(Text *out, const MemoryCell *cells, int n, json_t *environment);
