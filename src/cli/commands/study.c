#include "cli/commands/study.h"

#include "bench/cell/supported.h"
#include "bench/record/environment.h"
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
    Status status = report(&text, settings, rows);
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    return status;
}

Status study_run(const Settings *settings, const RunnerTask *task, StudyReport *report,
                 int *exit_code)
{
    json_t *environment = NULL;
    RecordSet rows;
    TRY(supported_any(task));
    TRY(output_check_file(settings));
    TRY(environment_new(&environment, settings->command_line));
    Status status = record_set_init(&rows, environment);
    if (status == ST_OK) {
        status = run_into(settings, task, report, &rows, exit_code);
        record_set_free(&rows);
    }
    json_decref(environment);
    return status;
}
