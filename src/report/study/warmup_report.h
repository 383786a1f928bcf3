/* The warm-up study in every format: what each number of warm-ups gives, how many are enough,
 * and what the first step pays for. */
#pragma once

#include "base/text.h"
#include "bench/study/warmup_study.h"
#include "report/format/table.h"

/* Of --format. json is a result file with the study added; csv has a row per step of every run. */
#define WARMUP_REPORT_FORMATS "md csv json latex typst"

/* `study` NULL: no run was measured completely; the rows say why. */
Status warmup_report_write(Text *out, const char *format, const WarmupStudy *study,
                           const RecordSet *rows);
