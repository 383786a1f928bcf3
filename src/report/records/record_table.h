/* Records -> the table and the notes that md, latex and typst show. */
#pragma once

#include "report/records/report.h"

/* The rows as a table with notes, in some format. Where attention alone is compared with a baseline, a table
 * below it has the values of the baseline's column side by side:
 *
 *     | d_head | ctx | forward, fp32 (ms) | forward, tf32 (ms) | change (%) | backward, fp32 (ms) | ... */
Status record_table_write(Text *out, const char *format, const ReportInput *input);
