/* A phase counts as measured when it ended well. One that was cut short (a time-out, a kill)
 * keeps the samples it had in its file; no table, chart or sentence is made of them. */
#pragma once

#include "bench/record/record.h"

/* As record_number(); a path into a phase, "step.median_ms", must lead into a measured one. */
bool measured_phase_number(const Record *r, const char *path, double *out);
/* The status of a phase; the status of the row if the row was cut short before the phase had
 * one. RECORD_STATUS_COUNT: the phase was not asked for, or it has no status of its own. */
RecordStatus measured_phase_status(const Record *r, const char *phase);
