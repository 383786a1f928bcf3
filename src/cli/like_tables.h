/* The tables of a write-up with its figures and ours. */
#ifndef CLI_LIKE_TABLES_H
#define CLI_LIKE_TABLES_H

#include "bench/record_set.h"
#include "bench/suite_cost.h"
#include "cli/like.h"

typedef struct LikeResults {
    const Config *cells;       /* of every row of like_rows, */
    const Config *watched;     /* and of every table of `profile`, by its number in like_tables */
    const RecordSet *rows;     /* those that were run, */
    const RecordSet *profiles; /* and profiled */
    SuiteRates rates;
} LikeResults;

/* Appends every table of the write-up; what was not run gets the plan's figures, marked. */
Status like_tables_write(Text *out, int writeup, const LikeResults *results);

#endif
