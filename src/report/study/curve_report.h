/* Loss curves of several precisions, side by side. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

/* Rows of bench/study/curve_cell.h; `format` is one of REPORT_STUDY_FORMATS. csv has a row for each step. */
Status curve_report_write(Text *out, const char *format, const RecordSet *rows);
