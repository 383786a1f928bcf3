/* Records -> the table and the notes that md, latex and typst show. */
#pragma once

#include "report/format/table.h"
#include "report/records/report.h"

/* Columns that vary between the rows and the essential ones (columns.def); below them the common
 * settings, what went wrong, the warnings, and the machine with the command line. */
Status record_table_build(Table *table, const ReportInput *input);

/* That table in some format. Where attention alone is compared with a baseline, a table
 * below it has the values of the baseline's column side by side:
 *
 *     | d_head | ctx | forward, fp32 (ms) | forward, tf32 (ms) | change (%) | backward, fp32 (ms) | ... */
Status record_table_write(Text *out, const char *format, const ReportInput *input);
