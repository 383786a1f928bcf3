/* Runs the cells of a study as a sweep and writes one report at the end. */
#pragma once

#include "bench/cell/runner.h"
#include "cli/command.h"

/* Appends the report of the rows. */
typedef Status StudyReport(Text *out, const Settings *settings, const RecordSet *rows);

/* Writes the report where --out says; after Ctrl-C it covers the cells that are done. */
Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code);

/* The same of rows that are kept as they come and can be resumed: in json and jsonl the file has the rows,
 * every other format is written at the end. bench_output_check() comes before. */
Status study_run_resumed(const Settings *settings, const RunnerTask *task, StudyReport *report,
                         int *exit_code);
