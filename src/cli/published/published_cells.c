#include "cli/published/published_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attention alone is of no size, and neither are sums. */
static bool is_asked(const Config *config, const char *sizes)
{
    char size[sizeof config->model.size + 1];
    snprintf(size, sizeof size, "%s,", config->model.size);
    if (!*sizes) return true;
    if (config->subject != SUBJECT_MODEL) return false;
    for (const char *at = sizes; (at = strstr(at, size)); at++) {
        if (at == sizes || at[-1] == ',') return true;
    }
    return false;
}

static Status make_rows(PublishedCells *cells, const char *device, const char *sizes)
{
    for (int r = 0; r < published_list_n_rows; r++) {
        const int table = published_list_rows[r].table;
        TRY(published_list_config(&published_list_tables[table], &published_list_rows[r], device,
                                  &cells->rows[r]));
        cells->has_row[r] = is_asked(&cells->rows[r], sizes);
        cells->has_table[table] = cells->has_table[table] || cells->has_row[r];
    }
    return ST_OK;
}

Status published_cells_make(PublishedCells *cells, const char *device, const char *sizes)
{
    const size_t n = (size_t)(published_list_n_rows + published_list_n_tables);
    cells->rows = calloc(n, sizeof *cells->rows);
    cells->has_row = calloc(n, sizeof *cells->has_row);
    if (!cells->rows || !cells->has_row) return NO_MEMORY("for the rows of a write-up");
    cells->watched = cells->rows + published_list_n_rows;
    cells->has_table = cells->has_row + published_list_n_rows;
    TRY(make_rows(cells, device, sizes));
    for (int id = 0; id < published_list_n_tables; id++) {
        if (!published_list_has_one_cell(&published_list_tables[id])) continue;
        TRY(published_list_config(&published_list_tables[id], NULL, device, &cells->watched[id]));
        const bool of_size = strstr(published_list_tables[id].words, "--size") != NULL;
        cells->has_table[id] = !*sizes || (of_size && is_asked(&cells->watched[id], sizes));
    }
    return ST_OK;
}

void published_cells_free(PublishedCells *cells)
{
    free(cells->rows);
    free(cells->has_row);
    *cells = (PublishedCells){0};
}
