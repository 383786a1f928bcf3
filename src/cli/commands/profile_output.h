/* The folder a profile goes to: profile.json, and beside it what other tools read. */
#pragma once

#include "bench/study/profile_cell.h"
#include "config/settings.h"
#include "config/sweep.h"
#include "report/records/report_sink.h"

typedef struct ProfileOutput {
    const Settings *settings;
    const Sweep *sweep;
    ReportSink json; /* of --out-dir; its path is NULL without */
} ProfileOutput;

/* ST_USAGE: --prefix leads out of --out-dir, or there is none. */
Status profile_output_check(const Settings *settings);
/* Makes the folder and writes to it now, so that what cannot be written is known before the work. */
Status profile_output_open(ProfileOutput *output, const Settings *settings, const Sweep *sweep,
                           const RecordSet *rows);
/* For RunnerTask.finished: `self` is the ProfileOutput. */
Status profile_output_add(void *self, Record *record);
Status profile_output_finish(ProfileOutput *output, const RecordSet *rows);
void profile_output_close(ProfileOutput *output);
/* For ProfileTask.write: the events that were kept, as a trace. */
Status profile_output_trace(void *self, const CellOpen *cell, const Profiler *profiler);

/* Adds what an --out-dir holds. *there: it holds a profile; a folder without may hold the CSVs of nsys. */
Status profile_output_read(RecordSet *rows, const char *folder, bool *there);
