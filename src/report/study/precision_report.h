/* The precision study in every format: sums in narrow numbers, the dtype of every part, errors against
 * float64, what 16 bits lose, and what each precision costs. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"
#include "report/format/table.h"

typedef struct PrecisionReport {
    const RecordSet *rows; /* of bench/study/precision_cell.h, one per precision */
    int64_t count;         /* of the terms that are summed, */
    double value;          /* each of this value */
} PrecisionReport;

/* Of --format. json is a result file with the sums added; csv has a row per tensor. */
#define PRECISION_REPORT_FORMATS "md csv json latex typst"

Status precision_report_write(Text *out, const char *format, const PrecisionReport *report);
