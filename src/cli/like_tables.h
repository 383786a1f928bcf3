/* The tables of a write-up with its figures and ours. */
#ifndef CLI_LIKE_TABLES_H
#define CLI_LIKE_TABLES_H

#include "bench/record_set.h"
#include "cli/like.h"
#include "report/page_parts.h"

typedef struct LikeResults {
    const Config *cells;   /* of every row of like_rows, */
    const Config *watched; /* and of every table that has one cell, by its number in like_tables */
    const RecordSet *rows; /* those that were run, */
    const RecordSet *profiles; /* and profiled */
    const json_t *expected;    /* what the plan says of the others: cli/like_expected.h */
} LikeResults;

/* Every table of the write-up as a part of a page; what was not run gets the plan's figures, marked. There is
 * room for like_n_tables, and `results` outlives them. */
int like_tables_list(const LikeResults *results, int writeup, PagePart *parts);

#endif
