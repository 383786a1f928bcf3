/* The cells that the rows of write-ups are here. */
#ifndef CLI_LIKE_CELLS_H
#define CLI_LIKE_CELLS_H

#include "cli/like.h"

/* Of rows, but for those whose samples begin with the first step. */
#define LIKE_CELLS_SAMPLES "--sample-time 5s"

typedef struct LikeCells {
    Config *rows; /* by number in like_rows; */
    Config *
        watched; /* of tables that have one cell, by number in like_tables; part of the same memory */
} LikeCells;

/* `device` are the words that say where they run. The caller frees it, after a failure too. */
Status like_cells_make(LikeCells *cells, const char *device);
void like_cells_free(LikeCells *cells);

#endif
