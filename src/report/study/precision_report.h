/* The precision study in every format: sums in narrow numbers, the dtype of every part, errors against
 * float64, what 16 bits lose, and what each precision costs. */
#pragma once

#include "report/records/report.h"

typedef struct PrecisionReport {
    const RecordSet *rows; /* of bench/study/precision_cell.h, one per precision */
    int64_t count;         /* of the terms that are summed, */
    double value;          /* each of this value */
} PrecisionReport;

/* `format` is one of REPORT_STUDY_FORMATS. json is a result file with the sums added; csv has a row per
 * tensor. */
Status precision_report_write(Text *out, const char *format, const PrecisionReport *report);
