/* A table in Markdown, padded so that it reads as a table in a terminal too. */
#ifndef REPORT_REPORT_MD_H
#define REPORT_REPORT_MD_H

#include "report/table.h"

Status report_md_table(Text *out, const Table *table);

#endif
