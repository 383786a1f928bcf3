/* Comma-separated values. */
#ifndef REPORT_RECORDS_REPORT_CSV_H
#define REPORT_RECORDS_REPORT_CSV_H

#include "base/text.h"

/* RFC 4180: quotes around what holds a comma, a quote or a line break, and quotes doubled. Lines
 * end in a line feed alone, as Unix tools expect. */
void report_csv_field(Text *out, const char *text);

#endif
