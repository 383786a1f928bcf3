/* A comparison of two result files for programs. */
#pragma once

#include "report/study/comparison_report.h"

Status comparison_json_write(Text *out, const ComparisonReport *report);
/* A row for each cell and phase. */
Status comparison_json_csv(Text *out, const ComparisonReport *report);
