#include "cli/commands/study.h"

#include "bench/cell/supported.h"
#include "cli/output.h"

Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    RunnerOutcome outcome;
    Text text = {0};
    TRY(supported_any(task));
    TRY(output_check_file(settings));
    TRY(output_rows_init(&rows, settings));
    TRY(runner_run(task, &rows, &outcome));
    TRY(supported_rows(&rows));
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    if (record_set_size(&rows) == 0) return ST_OK;
    return output_finish(settings, &text, report(&text, settings, &rows));
}
