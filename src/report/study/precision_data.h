/* What the records of the precision study hold, for its tables; and as json and csv. */
#ifndef REPORT_STUDY_PRECISION_DATA_H
#define REPORT_STUDY_PRECISION_DATA_H

#include "report/study/precision_report.h"

/* One run of a row: fp16 has two, with the loss scaled and not. */
typedef struct PrecisionRun {
    const Record *row;
    const json_t *error; /* an element of its "errors" */
    char label[48];      /* "fp32", "fp16, scaling none" */
    size_t next_row, next_error;
} PrecisionRun;

/* Steps a zeroed one through all runs; false after the last. */
bool precision_data_next(const RecordSet *rows, PrecisionRun *run);
/* The error of the gradients of a part ("layers.0"); NULL when it has none. */
const json_t *precision_data_part(const json_t *error, const char *name);

typedef struct PrecisionLoss {
    int64_t elements, lost, nonfinite; /* of all parameters' gradients */
} PrecisionLoss;
PrecisionLoss precision_data_lost(const json_t *error);

Status precision_data_json(Text *out, const PrecisionReport *report);
Status precision_data_csv(Text *out, const RecordSet *rows);

#endif
