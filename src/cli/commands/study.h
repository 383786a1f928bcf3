/* What the studies have in common: cells of their own making, run like those of a sweep, and one report at the
 * end. */
#ifndef CLI_COMMANDS_STUDY_H
#define CLI_COMMANDS_STUDY_H

#include "bench/cell/runner.h"
#include "cli/command.h"

/* Appends the report of the rows. */
typedef Status StudyReport(Text *out, const Settings *settings, const RecordSet *rows);

/* Runs the cells and writes the report where --out says, after Ctrl-C that of the cells that are done. */
Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code);

#endif
