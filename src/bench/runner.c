#include "bench/runner.h"

#include "base/clock.h"
#include "bench/cell_label.h"
#include "bench/interrupt.h"

#include <stdio.h>

enum { MOST_PRINTED = 20 }; /* lines of a cell that are passed on */

typedef struct Running {
    const RunnerTask *task;
    const Config *config;
    Progress *progress;
    CellRecord cell;
    int printed;
} Running;

/* ---- in the child ---- */

static RecordStatus status_word(Status status)
{
    switch (status) {
    case ST_OK:
        return RECORD_OK;
    case ST_NO_MEMORY:
        return RECORD_OOM;
    case ST_UNSUPPORTED:
        return RECORD_UNSUPPORTED;
    default:
        return RECORD_FAILED;
    }
}

static int run_body(void *arg, int out)
{
    const Running *running = arg;
    CellLink link;
    cell_link_open(&link, out);
    Status status = running->task->cell(running->config, &link);
    if (status != ST_OK) status = cell_link_end(&link, status_word(status), status_message());
    cell_link_close(&link);
    return status == ST_OK ? 0 : 1;
}

/* ---- in the parent ---- */

static void on_message(void *self, const char *line, size_t length)
{
    Running *running = self;
    cell_record_take(&running->cell, line, length);
}

static void on_printed(void *self, const char *line)
{
    Running *running = self;
    if (++running->printed < MOST_PRINTED) {
        progress_line(running->progress, line);
    } else if (running->printed == MOST_PRINTED) {
        progress_line(running->progress, "(more lines of this cell are left out)");
    }
}

static void on_tick(void *self)
{
    Running *running = self;
    progress_draw(running->progress, &running->cell, clock_seconds());
}

static Status run_in_child(Running *running, ChildResult *end)
{
    const ChildTask child = {.body = run_body,
                             .arg = running,
                             .timeout = running->config->timeout,
                             .self = running,
                             .message = on_message,
                             .printed = on_printed,
                             .tick = on_tick};
    return child_run(&child, end);
}

/* ---- the sweep ---- */

bool runner_keeps(const Record *record)
{
    switch (record_status(record)) {
    case RECORD_OK:
    case RECORD_OOM:
    case RECORD_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}

static Record *known(const RunnerTask *task, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    if (!task->resumed) return NULL;
    record_key_of_config(config, key);
    Record *record = record_set_find(task->resumed, key);
    return record && runner_keeps(record) ? record : NULL;
}

static double work_of(const RunnerTask *task, const Config *config)
{
    const double steps = (double)(config->warmup > 1 ? config->warmup : 1) + (double)config->steps;
    return steps * (task->work ? task->work(config) : 1);
}

static double total_work(const RunnerTask *task)
{
    double sum = 0;
    for (int i = 0; i < task->n; i++) {
        if (!known(task, &task->configs[i])) sum += work_of(task, &task->configs[i]);
    }
    return sum;
}

static Status add_row(RecordSet *rows, Record *record, RunnerOutcome *outcome)
{
    const RecordStatus status = record_status(record);
    if (status != RECORD_OK && status != RECORD_UNSUPPORTED) outcome->bad++;
    return record_set_add(rows, record);
}

static Status finish_cell(Running *running, const ChildResult *end, RecordSet *rows,
                          RunnerOutcome *outcome)
{
    TRY(cell_record_finish(&running->cell, end));
    TRY(add_row(rows, running->cell.record, outcome));
    progress_finished(running->progress, running->cell.record, clock_seconds());
    const RunnerTask *task = running->task;
    return task->finished ? task->finished(task->self, running->cell.record) : ST_OK;
}

static Status run_cell(const RunnerTask *task, int i, Progress *progress, RecordSet *rows,
                       RunnerOutcome *outcome)
{
    const Config *config = &task->configs[i];
    Running running = {.task = task, .config = config, .progress = progress};
    ChildResult end;
    progress_cell(progress, i + 1, cell_label(config, task->varies).s, config,
                  work_of(task, config));
    Status status = cell_record_begin(&running.cell, config);
    if (status == ST_OK) status = run_in_child(&running, &end);
    if (status == ST_OK && end.end != CHILD_INTERRUPTED) {
        status = finish_cell(&running, &end, rows, outcome);
    }
    cell_record_free(&running.cell);
    return status;
}

static Status run_cells(const RunnerTask *task, Progress *progress, RecordSet *rows,
                        RunnerOutcome *outcome)
{
    for (int i = 0; i < task->n; i++) {
        if ((outcome->signal = interrupt_signal())) return ST_OK;
        Record *old = known(task, &task->configs[i]);
        if (old) {
            outcome->kept++;
            progress_kept(progress, i + 1, cell_label(&task->configs[i], task->varies).s, old);
            TRY(add_row(rows, old, outcome));
        } else {
            TRY(run_cell(task, i, progress, rows, outcome));
        }
    }
    outcome->signal = interrupt_signal();
    return ST_OK;
}

Status runner_run(const RunnerTask *task, RecordSet *rows, RunnerOutcome *outcome)
{
    *outcome = (RunnerOutcome){0};
    Progress progress;
    progress_begin(&progress, task->n, total_work(task));
    interrupt_begin();
    const Status status = run_cells(task, &progress, rows, outcome);
    interrupt_end();
    progress_end(&progress);
    return status;
}
