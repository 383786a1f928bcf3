/* The tables of a write-up with its figures and ours. */
#ifndef CLI_PUBLISHED_PUBLISHED_TABLES_H
#define CLI_PUBLISHED_PUBLISHED_TABLES_H

#include "bench/record/record_set.h"
#include "cli/published/published_cells.h"
#include "report/page/page_parts.h"

typedef struct PublishedResults {
    const PublishedCells *cells;
    const RecordSet *rows;     /* those that were run, */
    const RecordSet *profiles; /* and profiled */
    const json_t *expected; /* what is expected of the others: cli/published/published_expected.h */
} PublishedResults;

/* Every table of the write-up that was asked for as a part of a page; what was not run says why, and estimates are marked. There is
 * room for published_list_n_tables, and `results` outlives them. */
int published_tables_list(const PublishedResults *results, int writeup, PagePart *parts);

#endif
