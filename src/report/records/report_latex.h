/* A table in LaTeX, with booktabs rules. */
#ifndef REPORT_RECORDS_REPORT_LATEX_H
#define REPORT_RECORDS_REPORT_LATEX_H

#include "report/format/table.h"

Status report_latex_table(Text *out, const Table *table);
void report_latex_text(Text *out, const char *text); /* with what it takes that LaTeX prints it */

#endif
