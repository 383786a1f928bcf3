/* A phase counts as measured when it ended well. One that was cut short (a time-out, a kill) keeps the samples it
 * had in its file; no table, chart or sentence is made of them. */
#ifndef REPORT_RECORDS_MEASURED_PHASE_H
#define REPORT_RECORDS_MEASURED_PHASE_H

#include "bench/record/record.h"

/* As record_number(), of a measured phase alone where the path is that of a phase: "step.median_ms". */
bool measured_phase_number(const Record *r, const char *path, double *out);
/* The status of a phase, that of the row where it was cut short before the phase had any. RECORD_STATUS_COUNT: the
 * phase was not asked for, or there is no more to say about it than about the row. */
RecordStatus measured_phase_status(const Record *r, const char *phase);

#endif
