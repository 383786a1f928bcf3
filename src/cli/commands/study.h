/* Runs the cells of a study as a sweep and writes one report at the end. */
#pragma once

#include "bench/cell/runner.h"
#include "cli/command.h"

/* Appends the report of the rows. */
typedef Status StudyReport(Text *out, const Settings *settings, const RecordSet *rows);

/* Writes the report where --out says; after Ctrl-C it covers the cells that are done. */
Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code);
