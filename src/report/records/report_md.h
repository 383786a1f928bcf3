/* A table in Markdown, padded so that it reads as a table in a terminal too. */
#ifndef REPORT_RECORDS_REPORT_MD_H
#define REPORT_RECORDS_REPORT_MD_H

#include "report/format/table.h"

Status report_md_table(Text *out, const Table *table);
void report_md_text(Text *out, const char *text); /* that is no markup */
/* From now on tables are for a terminal of so many columns: one that is wider does without its spare columns
 * and says which. 0, as in the beginning: all of them. */
void report_md_fit(size_t columns);
size_t report_md_columns(void); /* 0: they are for a file */

#endif
