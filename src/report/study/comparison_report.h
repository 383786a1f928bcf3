/* A comparison of two result files in every format. */
#pragma once

#include "bench/record/comparison.h"
#include "report/records/report.h"

typedef struct ComparisonReport {
    const Comparison *comparison;
    const RecordSet *a, *b;
    const char *path_a, *path_b;
} ComparisonReport;

/* Appends it; `format` is one of REPORT_STUDY_FORMATS. md, latex and typst: a table of what differs around
 * the two, then a row for every cell and phase, with the verdict in the last column. */
Status comparison_report_write(Text *out, const char *format, const ComparisonReport *report);
