/* A table in Typst. */
#ifndef REPORT_REPORT_TYPST_H
#define REPORT_REPORT_TYPST_H

#include "report/table.h"

Status report_typst_table(Text *out, const Table *table);
void report_typst_string(Text *out, const char *text); /* in quotes */

#endif
