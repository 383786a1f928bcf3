/* What both kinds of suite write: results.json, index.html, and which of their cells are missing. */
#pragma once

#include "report/page/page_parts.h"

/* How cells ended. A cell that does not fit by its plan is a result; `cut` cells were cut short. */
typedef struct SuiteCells {
    int all, cut;                      /* --resume measures those again */
    int ended[RECORD_STATUS_COUNT];    /* `cut` by status */
    char first[RECORD_KEY_SIZE + 256]; /* the first of them: "small, ctx 512: failed: why" */
} SuiteCells;

/* Counts the cells of a file of rows or of `memory`. */
void suite_output_count(SuiteCells *cells, const ResultInput *file);
void suite_output_count_rows(SuiteCells *cells, const RecordSet *rows);
/* Appends "3 of 16 cells were cut short (2 failed, 1 killed); the first: small, ctx 512: failed: why". */
void suite_output_put_cut(Text *out, const SuiteCells *cells);

/* Appends {part, command, why} and, unless `cut` is 0, cut_short; `why` ends with how to resume. */
Status suite_output_add_missing(json_t *list, const char *folder, const char *part,
                                const char *command, const char *why, int cut);

/* A new reference to the rows as a result file has them. */
Status suite_output_rows(json_t **out, const RecordSet *rows);
/* Writes folder/results.json: a result file of the rows, for compare and scripts, with further members. */
Status suite_output_results(const char *folder, const RecordSet *rows, json_t *members);
/* Writes folder/index.html; does nothing in a build without pages. */
Status suite_output_page(const char *folder, const PageInput *input);
