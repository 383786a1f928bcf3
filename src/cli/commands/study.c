#include "cli/commands/study.h"

#include "bench/cell/supported.h"
#include "cli/commands/bench_output.h"
#include "cli/commands/resumed_rows.h"
#include "cli/output.h"

#include <string.h>

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

/* ---- with --resume ---- */

/* Rows are kept as they come in files of rows; tables and csv are written at the end. */
static Settings files_of(const Settings *settings)
{
    Settings files = *settings;
    if (strncmp(settings->format, "json", 4) != 0) files.out = NULL;
    return files;
}

static Status show(const Settings *settings, const Settings *files, StudyReport *report,
                   const RecordSet *rows)
{
    Text text = {0};
    if (record_set_size(rows) == 0 || files->out) return ST_OK;
    return output_finish(settings, &text, report(&text, settings, rows));
}

static Status run_cells(const Settings *settings, RunnerTask *task, StudyReport *report,
                        const RecordSet *known, int *exit_code)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    CLEANUP(bench_output_close) BenchOutput output = {0};
    const Settings files = files_of(settings);
    RunnerOutcome outcome;
    TRY(record_set_init(&rows, json_array_get(known->environments, 0)));
    if (!files.out) TRY(output_check_file(settings));
    TRY(bench_output_open(&output, &files, known));
    task->self = &output;
    task->finished = bench_output_add;
    const Status ran = runner_run(task, &rows, &outcome);
    if (ran == ST_OK) TRY(bench_output_finish(&output, &rows, known));
    if (ran == ST_OK && record_set_size(&rows) > 0) TRY(supported_rows(&rows));
    TRY(show(settings, &files, report, &rows));
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    return ran;
}

Status study_run_resumed(const Settings *settings, const RunnerTask *asked, StudyReport *report,
                         int *exit_code)
{
    CLEANUP(record_set_free) RecordSet known = {0};
    RunnerTask task = *asked;
    TRY(output_rows_init(&known, settings));
    TRY(resumed_rows_read(&known, settings));
    task.resumed = &known;
    TRY(supported_any(&task));
    return run_cells(settings, &task, report, &known, exit_code);
}
