/* A table in Typst. */
#ifndef REPORT_RECORDS_REPORT_TYPST_H
#define REPORT_RECORDS_REPORT_TYPST_H

#include "report/format/table.h"

Status report_typst_table(Text *out, const Table *table);
void report_typst_string(Text *out, const char *text); /* in quotes */

#endif
