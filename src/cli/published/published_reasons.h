/* What stands under a write-up's table: why rows were not measured, how the others were, what is doubtful. */
#ifndef CLI_PUBLISHED_PUBLISHED_REASONS_H
#define CLI_PUBLISHED_PUBLISHED_REASONS_H

#include "bench/record/record.h"
#include "report/format/table.h"

enum { PUBLISHED_MAX_REASONS = 6, PUBLISHED_MAX_REMARKS = 32 };

typedef struct PublishedReason {
    const char *word; /* "OOM" */
    char label[96];   /* of the first row, */
    char message[256];
    int n; /* and how many have the same */
} PublishedReason;

typedef struct PublishedReasons {
    PublishedReason list[PUBLISHED_MAX_REASONS];
    int n, more;   /* reasons, and rows whose reason is not among them */
    int no_time;   /* rows that the clock did not come to, or cut */
    int estimated; /* figures that are no measurements */
    const char *remarks[PUBLISHED_MAX_REMARKS]; /* on lines, each once; borrowed */
    int marks;
    double others, stolen; /* % of the processors' time that others had at most; NAN: not told */
} PublishedReasons;

PublishedReasons published_reasons_none(void);
/* One row; `record` NULL: the clock did not come to it. */
void published_reasons_add(PublishedReasons *reasons, const char *label, const Record *record);
/* "no time", "OOM", "unsupported", "failed", "killed", or "" of one that is ok. */
const char *published_reasons_word(const Record *record);
/* Appends " (1)" and gives the table its note, if there is a remark (NULL: none); lines with the same one share it. */
void published_reasons_mark(PublishedReasons *reasons, Table *table, Text *label,
                            const char *remark);
/* The lines under the table. */
void published_reasons_tell(const PublishedReasons *reasons, Table *table);

#endif
