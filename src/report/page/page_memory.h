/* What `memory --format json` has written: tables, and how much of what is alive at every node. */
#pragma once

#include "report/format/table.h"

#include <jansson.h>

/* Every cell with its peaks; of a cell with every tensor also the peaks by use and the largest tensors. */
Status page_memory_tables(Text *out, const char *format, const json_t *cells);

/* A new array with, for each cell that tells of every tensor,
 *
 *   {label, cell: {size, ctx, ..., peak}, phases: [phase of each node], scopes: [of each node],
 *    uses: [{name, colour, mib: [at each node]}, ...]} */
Status page_memory_timelines(json_t **out, const json_t *cells);
