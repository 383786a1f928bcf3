/* The tables of `precision` that come from the errors of each run. */
#pragma once

#include "bench/record/record_set.h"
#include "report/format/table.h"

/* One run of a row: fp16 has two, with the loss scaled and not. */
typedef struct PrecisionErrorsRun {
    const Record *row;
    const json_t *error; /* an element of its "errors" */
    char label[80];      /* "fp32", "fp16, scaling none" */
    size_t next_row, next_error;
} PrecisionErrorsRun;

typedef struct PrecisionName {
    char s[48];
} PrecisionName;

/* "bf16", "fp8 rowwise" */
PrecisionName precision_errors_name(const Record *row);
/* Steps a zeroed one through all runs; false after the last. */
bool precision_errors_next(const RecordSet *rows, PrecisionErrorsRun *run);
int64_t precision_errors_count(const json_t *object, const char *name);
/* An error, or that it is not finite. */
void precision_errors_cell(Table *table, const json_t *x);

/* Which linear layers of an fp8 row stayed in bf16, if any. */
void precision_errors_note_left(Table *table, const Record *row);

/* What is compared as a whole, by the names in "errors". */
enum { PRECISION_WHOLE = 3 };
extern const char *const precision_errors_whole[PRECISION_WHOLE];

/* Errors against float64; what is lost at both ends of the range; what 8 bits lose of operands. */
void precision_errors_table(Table *table, const RecordSet *rows);
void precision_errors_range(Table *table, const RecordSet *rows);
void precision_errors_operands(Table *table, const RecordSet *rows);
