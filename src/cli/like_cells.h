/* The cells that the rows of write-ups are here, and which of them were asked for. */
#ifndef CLI_LIKE_CELLS_H
#define CLI_LIKE_CELLS_H

#include "cli/like.h"

typedef struct LikeCells {
    Config *rows;              /* by number in like_rows; */
    Config *watched;           /* of tables that have one cell, by number in like_tables; */
    bool *has_row, *has_table; /* by the same numbers: of the sizes asked for; a table with a row */
} LikeCells;

/* `device` are the words that say where they run; `sizes` names sizes with a comma after each, "" for all rows. The
 * caller frees it, after a failure too. */
Status like_cells_make(LikeCells *cells, const char *device, const char *sizes);
void like_cells_free(LikeCells *cells);

#endif
