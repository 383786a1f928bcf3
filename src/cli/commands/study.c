#include "cli/commands/study.h"

#include "bench/cell/supported.h"
#include "cli/output.h"

static Status run_into(const Settings *settings, const RunnerTask *task, StudyReport *report,
                       RecordSet *rows, int *exit_code)
{
    RunnerOutcome outcome;
    Text text = {0};
    TRY(runner_run(task, rows, &outcome));
    TRY(supported_rows(rows));
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    if (record_set_size(rows) == 0) return ST_OK;
    return output_finish(settings, &text, report(&text, settings, rows));
}

Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code)
{
    RecordSet rows;
    TRY(supported_any(task));
    TRY(output_check_file(settings));
    TRY(output_rows_init(&rows, settings));
    const Status status = run_into(settings, task, report, &rows, exit_code);
    record_set_free(&rows);
    return status;
}
