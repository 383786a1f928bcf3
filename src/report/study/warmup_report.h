/* The warm-up study in every format: what each number of warm-ups gives, how many are enough,
 * and what the first step pays for. */
#pragma once

#include "bench/study/warmup_study.h"
#include "report/records/report.h"

/* `format` is one of REPORT_STUDY_FORMATS. json is a result file with the study added; csv has a row per
 * step of every run. `study` NULL: no run was measured completely; the rows say why. */
Status warmup_report_write(Text *out, const char *format, const WarmupStudy *study,
                           const RecordSet *rows);
