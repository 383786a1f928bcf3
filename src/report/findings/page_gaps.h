/* Commands that measured nothing, and why: what they were to fill stays empty, and the page says so. */
#ifndef REPORT_FINDINGS_PAGE_GAPS_H
#define REPORT_FINDINGS_PAGE_GAPS_H

#include "report/findings/page_file.h"

/* Appends {command, why} for each kind of rows that no file has a measured one of. */
Status page_gaps_add(json_t *gaps, const PageFile *files, int n);
/* The sentence about a {part, command, why} of a suite: it left no file, or, with "cut_short", not all of its cells were
 * measured. */
void page_gaps_missing(Text *out, const json_t *gap);

#endif
