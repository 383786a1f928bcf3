/* The cells that the rows of write-ups are here, and which of them were asked for. */
#ifndef CLI_PUBLISHED_PUBLISHED_CELLS_H
#define CLI_PUBLISHED_PUBLISHED_CELLS_H

#include "cli/published/published_list.h"

typedef struct PublishedCells {
    Config *rows;    /* by number in published_list_rows; */
    Config *watched; /* of tables that have one cell, by number in published_list_tables; */
    bool *has_row, *has_table; /* by the same numbers: of the sizes asked for; a table with a row */
} PublishedCells;

/* `device` are the words that say where they run; `sizes` names sizes with a comma after each, "" for all rows. The
 * caller frees it, after a failure too. */
Status published_cells_make(PublishedCells *cells, const char *device, const char *sizes);
void published_cells_free(PublishedCells *cells);

#endif
