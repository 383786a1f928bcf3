/* A comparison for programs. */
#ifndef REPORT_STUDY_COMPARISON_DATA_H
#define REPORT_STUDY_COMPARISON_DATA_H

#include "report/study/comparison_report.h"

/* One object: files, differences, warnings, cells with their phases, only_a, only_b, geometric_mean. */
Status comparison_data_json(Text *out, const ComparisonReport *report);
/* One row for every cell and phase; cells in one file only have a row without a phase. */
Status comparison_data_csv(Text *out, const ComparisonReport *report);

#endif
