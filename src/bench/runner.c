#include "bench/runner.h"

#include "base/clock.h"
#include "bench/cell_label.h"
#include "bench/interrupt.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PRINTED = 20 }; /* lines of a cell that are passed on */

/* One way to run a cell: ours, or a peer's. */
typedef struct Running {
    const RunnerTask *task;
    const Config *config;
    const Peer *peer; /* NULL: ours */
    Progress *progress;
    CellRecord cell;
    ChildResult end; /* of its last round */
    bool over;       /* another round would make no sense */
    int printed;
} Running;

/* What runs in turn for one cell of the sweep, ours first. */
typedef struct Group {
    Peer peers[PEER_MAX];
    Running members[1 + PEER_MAX];
    int n, rounds;
} Group;

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
    Status status = running->peer ? peer_run(running->peer, running->config, &link)
                                  : running->task->cell(running->config, &link);
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

static Status run_in_child(Running *running)
{
    const ChildTask child = {.body = run_body,
                             .arg = running,
                             .timeout = running->config->timeout,
                             .self = running,
                             .message = on_message,
                             .printed = on_printed,
                             .tick = on_tick};
    return child_run(&child, &running->end);
}

/* ---- what need not run ---- */

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

static Record *known(const RunnerTask *task, const Record *wanted)
{
    Record *record = task->resumed ? record_set_find(task->resumed, record_key(wanted)) : NULL;
    return record && runner_keeps(record) ? record : NULL;
}

/* All of it is there already. */
static bool group_known(const Group *group)
{
    for (int i = 0; i < group->n; i++) {
        if (!known(group->members[i].task, group->members[i].cell.record)) return false;
    }
    return true;
}

static void group_free(Group *group)
{
    for (int i = 0; i < group->n; i++) cell_record_free(&group->members[i].cell);
}

static Status group_make(Group *group, const RunnerTask *task, const Config *config,
                         Progress *progress)
{
    int n_peers = 0;
    *group = (Group){.rounds = 1};
    TRY(peer_list(&task->peer, config, group->peers, &n_peers));
    if (n_peers > 0) group->rounds = task->peer.rounds;
    for (int i = 0; i <= n_peers; i++) {
        Running *member = &group->members[i];
        *member = (Running){.task = task, .config = config, .progress = progress};
        if (i > 0) member->peer = &group->peers[i - 1];
        const Status status = cell_record_begin_peer(&member->cell, config, member->peer);
        if (status != ST_OK) group_free(group);
        TRY(status);
        group->n++;
    }
    return ST_OK;
}

/* ---- how much there is to do ---- */

static double weight_of(const RunnerTask *task, const Config *config)
{
    return task->weight ? task->weight(config) : 1;
}

static Status total_weight(const RunnerTask *task, double *sum)
{
    *sum = 0;
    for (int i = 0; i < task->n; i++) {
        Group group;
        TRY(group_make(&group, task, &task->configs[i], NULL));
        if (!group_known(&group))
            *sum += weight_of(task, &task->configs[i]) * group.n * group.rounds;
        group_free(&group);
    }
    return ST_OK;
}

/* ---- one cell ---- */

static CellLabel label_of(const Running *member)
{
    CellLabel label = cell_label(member->config, member->task->varies);
    const size_t n = strlen(label.s);
    if (member->peer) {
        snprintf(label.s + n, sizeof label.s - n, " (%s %s)", member->peer->name,
                 member->peer->variant);
    }
    return label;
}

static Status run_member(Running *member, int index)
{
    progress_cell(member->progress, index, label_of(member).s, member->config,
                  weight_of(member->task, member->config));
    cell_record_again(&member->cell);
    TRY(run_in_child(member));
    member->over = !cell_record_is_ok(&member->cell, &member->end);
    progress_done(member->progress, clock_seconds());
    return ST_OK;
}

/* Ours, theirs, ours, theirs: what changes on the machine meanwhile meets both. */
static Status run_rounds(Group *group, int index)
{
    for (int round = 0; round < group->rounds; round++) {
        for (int i = 0; i < group->n; i++) {
            Running *member = &group->members[i];
            if (round > 0 && member->over) continue;
            TRY(run_member(member, index));
            if (member->end.end == CHILD_INTERRUPTED) return ST_OK;
        }
    }
    return ST_OK;
}

static void count_if_bad(const Record *record, RunnerOutcome *outcome)
{
    const RecordStatus status = record_status(record);
    const bool bad = status != RECORD_OK && status != RECORD_UNSUPPORTED;
    if (bad && !record_text(record, "peer")) outcome->bad++;
}

/* The work is the same: what ours knows of it holds for theirs. */
static Status share_work(const Record *ours, Record *theirs)
{
    static const char *const names[] = {"flops_per_step", "limit_tflops"};
    const char *mode = record_text(ours, "measured_mode");
    double value = 0;
    if (!mode || strcmp(mode, record_text(ours, "mode")) != 0) return ST_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (record_number(ours, names[i], &value)) TRY(record_put_number(theirs, names[i], value));
    }
    return ST_OK;
}

static Status finish_group(Group *group, int index, RecordSet *rows, RunnerOutcome *outcome)
{
    Record *records[1 + PEER_MAX];
    for (int i = 0; i < group->n; i++) {
        Running *member = &group->members[i];
        if (i > 0) TRY(share_work(records[0], member->cell.record));
        TRY(cell_record_finish(&member->cell, &member->end));
        records[i] = member->cell.record;
    }
    TRY(peer_judge(records[0], records + 1, group->n - 1));
    for (int i = 0; i < group->n; i++) {
        const Running *member = &group->members[i];
        count_if_bad(records[i], outcome);
        TRY(record_set_add(rows, records[i]));
        progress_cell(member->progress, index, label_of(member).s, member->config, 0);
        progress_finished(member->progress, records[i], clock_seconds());
        const RunnerTask *task = member->task;
        if (task->finished) TRY(task->finished(task->self, records[i]));
    }
    return ST_OK;
}

static Status keep_group(Group *group, int index, RecordSet *rows, RunnerOutcome *outcome)
{
    for (int i = 0; i < group->n; i++) {
        const Running *member = &group->members[i];
        Record *old = known(member->task, member->cell.record);
        progress_kept(member->progress, index, label_of(member).s, old);
        count_if_bad(old, outcome);
        TRY(record_set_share(rows, member->task->resumed, old));
    }
    outcome->kept++;
    return ST_OK;
}

static Status run_group(Group *group, int index, RecordSet *rows, RunnerOutcome *outcome)
{
    if (group_known(group)) return keep_group(group, index, rows, outcome);
    TRY(run_rounds(group, index));
    for (int i = 0; i < group->n; i++) {
        if (group->members[i].end.end == CHILD_INTERRUPTED) return ST_OK;
    }
    return finish_group(group, index, rows, outcome);
}

/* ---- the sweep ---- */

static Status run_cells(const RunnerTask *task, Progress *progress, RecordSet *rows,
                        RunnerOutcome *outcome)
{
    for (int i = 0; i < task->n; i++) {
        Group group;
        if ((outcome->signal = interrupt_signal())) return ST_OK;
        TRY(group_make(&group, task, &task->configs[i], progress));
        const Status status = run_group(&group, i + 1, rows, outcome);
        group_free(&group);
        TRY(status);
    }
    outcome->signal = interrupt_signal();
    return ST_OK;
}

Status runner_run(const RunnerTask *task, RecordSet *rows, RunnerOutcome *outcome)
{
    *outcome = (RunnerOutcome){0};
    Progress progress;
    double total = 0;
    TRY(total_weight(task, &total));
    progress_begin(&progress, task->n, total);
    interrupt_begin();
    const Status status = run_cells(task, &progress, rows, outcome);
    interrupt_end();
    progress_end(&progress);
    return status;
}
