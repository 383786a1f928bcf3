#include "cli/like_cells.h"

#include <stdlib.h>

/* Samples of bench and attention are cut short, three are always taken. */
static Status make_rows(LikeCells *cells, const char *device)
{
    Text words = {0};
    text_printf(&words, "%s %s", LIKE_CELLS_SAMPLES, device);
    Status status = text_status(&words);
    for (int r = 0; status == ST_OK && r < like_n_rows; r++)
        status = like_config(&like_tables[like_rows[r].table], &like_rows[r], text_str(&words),
                             &cells->rows[r]);
    text_free(&words);
    return status;
}

Status like_cells_make(LikeCells *cells, const char *device)
{
    cells->rows = calloc((size_t)(like_n_rows + like_n_tables), sizeof *cells->rows);
    if (!cells->rows) return FAIL(ST_NO_MEMORY, "no memory for the rows of a write-up");
    cells->watched = cells->rows + like_n_rows;
    TRY(make_rows(cells, device));
    for (int id = 0; id < like_n_tables; id++) {
        if (like_has_one_cell(&like_tables[id]))
            TRY(like_config(&like_tables[id], NULL, device, &cells->watched[id]));
    }
    return ST_OK;
}

void like_cells_free(LikeCells *cells)
{
    free(cells->rows);
    *cells = (LikeCells){0};
}
