/* The tables of a write-up with its figures and ours. */
#ifndef CLI_LIKE_TABLES_H
#define CLI_LIKE_TABLES_H

#include "bench/record_set.h"
#include "cli/like_cells.h"
#include "report/page_parts.h"

typedef struct LikeResults {
    const LikeCells *cells;
    const RecordSet *rows;     /* those that were run, */
    const RecordSet *profiles; /* and profiled */
    const json_t *expected;    /* what is expected of the others: cli/like_expected.h */
} LikeResults;

/* Every table of the write-up that was asked for as a part of a page; what was not run says why, and estimates are marked. There is
 * room for like_n_tables, and `results` outlives them. */
int like_tables_list(const LikeResults *results, int writeup, PagePart *parts);

#endif
