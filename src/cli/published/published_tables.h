/* The tables of a write-up: its published figures and ours. */
#pragma once

#include "cli/published/published_list.h"
#include "report/page/page_parts.h"

/* What was measured for a write-up, now or elsewhere. */
typedef struct PublishedResults {
    int writeup;
    PublishedCells cells;
    PublishedRecords records; /* of the cells that were run */
    const json_t *expected;   /* of the others: cli/published/published_estimate.h */
} PublishedResults;

/* Lists every chosen table of the write-up as a part of a page; returns how many. A row that was not run
 * says why, and estimates are marked. `parts` has room for published_list_n_tables, and `results`
 * outlives them. */
int published_tables_list(const PublishedResults *results, PagePart *parts);

/* ---- notes under a table, and how many of its rows were measured ---- */

/* The cell's record; where time ran out, the reason that the plan gives instead, if any. NULL: time ran
 * out. */
const Record *published_notes_record(const PublishedResults *results, const Config *config,
                                     bool profiled);

enum { PUBLISHED_MAX_REASONS = 6, PUBLISHED_MAX_REMARKS = 32 };

typedef struct PublishedReason {
    const char *status; /* "OOM" */
    char label[96];     /* of the first row, */
    char message[256];
    int n; /* and how many rows have the same */
} PublishedReason;

typedef struct PublishedNotes {
    PublishedReason list[PUBLISHED_MAX_REASONS];
    int n, more;                                /* reasons; rows with a further reason */
    int no_time;                                /* rows that were not run for want of time */
    int estimated;                              /* figures that are no measurements */
    const char *remarks[PUBLISHED_MAX_REMARKS]; /* each once; borrowed */
    int n_remarks;
    double others, stolen; /* the most CPU time in % that others took; NAN: unknown */
} PublishedNotes;

/* Takes note of one row; `record` NULL: time ran out. */
void published_notes_add(PublishedNotes *notes, const char *label, const Record *record);
/* "no time", "OOM", "unsupported", "failed", "killed", or "" for ok. */
const char *published_notes_status(const Record *record);
/* Appends " (1)" to the label and adds the remark (NULL: none) to the table; lines with the same remark
 * share it. */
void published_notes_mark(PublishedNotes *notes, Table *table, Text *label, const char *remark);
/* Adds the notes to the table. */
void published_notes_put(const PublishedNotes *notes, Table *table);

/* Appends "Of its 79 rows 30 were measured, 3 did not fit, 35 are unsupported, 11 had no time." A cell
 * that several tables have counts once, a profile as a row. */
Status published_notes_count(Text *out, const PublishedResults *results);
