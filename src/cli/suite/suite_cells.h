/* How the cells of a result file ended: which of them were cut short by something else than the plan's memory or the
 * suite's own clock. */
#ifndef CLI_SUITE_SUITE_CELLS_H
#define CLI_SUITE_SUITE_CELLS_H

#include "report/findings/result_input.h"

typedef struct SuiteCells {
    int all, cut;                      /* cells, and those that --resume measures again */
    int ended[RECORD_STATUS_COUNT];    /* how many of `cut` */
    char first[RECORD_KEY_SIZE + 256]; /* "small, ctx 512: failed: why", of the first one */
} SuiteCells;

/* Adds those of a file of rows or of `memory`. */
void suite_cells_add(SuiteCells *cells, const ResultInput *file);
void suite_cells_add_rows(SuiteCells *cells, const RecordSet *rows);
/* "3 of 16 cells were cut short (2 failed, 1 killed); the first: small, ctx 512: failed: why" */
void suite_cells_tell(Text *out, const SuiteCells *cells);

#endif
