/* Rows that agree in a number of fields have the same text of them. */
#ifndef REPORT_RECORDS_SAME_WORK_H
#define REPORT_RECORDS_SAME_WORK_H

#include "base/text.h"
#include "bench/record/record.h"

/* Appends the values of the fields, each on a line; nothing for one that the row lacks. False: it lacks one. */
bool same_work_put(Text *out, const Record *record, const char *const *fields, size_t n);

#endif
