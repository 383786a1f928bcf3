/* The folder a profile goes to: profile.json, and beside it what other tools read. */
#pragma once

#include "bench/study/profile_cell.h"
#include "config/settings.h"
#include "config/sweep.h"
#include "report/records/report_sink.h"

#include <limits.h>

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
/* After the last cell: removes what processes left that ended too early. */
Status profile_output_clean(const ProfileOutput *output, const RecordSet *rows);
Status profile_output_finish(ProfileOutput *output, const RecordSet *rows);
void profile_output_close(ProfileOutput *output);
/* For ProfileTask.write: the events that were kept, as a trace. */
Status profile_output_trace(void *self, const CellOpen *cell, const Profiler *profiler);

/* The options that ranks of a cell need to write the files of theirs; the texts are its own. */
typedef struct ProfileRankWords {
    char steps[40], folder[PATH_MAX + 16], prefix[PATH_MAX + 16];
    const char *list[5];
} ProfileRankWords;

Status profile_output_words(const ProfileOutput *output, const Config *config,
                            ProfileRankWords *words);

/* Adds what an --out-dir holds. *there: it holds a profile; a folder without may hold the CSVs of nsys. */
Status profile_output_read(RecordSet *rows, const char *folder, bool *there);
