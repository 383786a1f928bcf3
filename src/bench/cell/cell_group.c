#include "bench/cell/cell_group.h"

#include "base/clock.h"
#include "bench/cell/cell.h"
#include "bench/record/cell_label.h"
#include "bench/record/record_stat.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PRINTED = 20 }; /* lines of a cell that are passed on */

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
    const CellGroupMember *member = arg;
    CellLink link;
    cell_link_open(&link, out);
    Status status = member->peer ? peer_run(member->peer, &member->part, member->cell.record, &link)
                                 : member->task->cell(&member->part, &link);
    if (status != ST_OK) status = cell_link_end(&link, status_word(status), status_message());
    cell_link_close(&link);
    return status == ST_OK ? 0 : 1;
}

/* ---- in the parent ---- */

static void on_message(void *self, const char *line, size_t length)
{
    CellGroupMember *member = self;
    cell_record_take(&member->cell, line, length);
}

static void on_printed(void *self, const char *line)
{
    CellGroupMember *member = self;
    if (++member->printed < MOST_PRINTED) {
        progress_line(member->progress, line);
    } else if (member->printed == MOST_PRINTED) {
        progress_line(member->progress, "(more lines of this cell are left out)");
    }
}

static void on_tick(void *self)
{
    CellGroupMember *member = self;
    progress_draw(member->progress, &member->cell, clock_seconds());
}

static Status run_in_child(CellGroupMember *member)
{
    const ChildTask child = {.body = run_body,
                             .arg = member,
                             .timeout = member->config->timeout,
                             .self = member,
                             .message = on_message,
                             .printed = on_printed,
                             .tick = on_tick};
    return child_run(&child, &member->end);
}

/* ---- what need not run ---- */

static Record *known(const RunnerTask *task, const Record *wanted)
{
    Record *record = task->resumed ? record_set_find(task->resumed, record_key(wanted)) : NULL;
    return record && cell_record_is_final(record) ? record : NULL;
}

bool cell_group_is_resumed(const CellGroup *group)
{
    for (int i = 0; i < group->n; i++) {
        if (!known(group->members[i].task, group->members[i].cell.record)) return false;
    }
    return true;
}

void cell_group_free(CellGroup *group)
{
    for (int i = 0; i < group->n; i++) cell_record_free(&group->members[i].cell);
    *group = (CellGroup){0};
}

/* Beside a peer every round takes all steps; alone, the rounds share them. */
static int rounds_of(const RunnerTask *task, const Config *config, int n_peers)
{
    if (n_peers > 0) return task->peer.rounds;
    return task->rounds < config->steps ? (task->rounds > 1 ? task->rounds : 1)
                                        : (int)config->steps;
}

Status cell_group_make(CellGroup *group, const RunnerTask *task, int index, Progress *progress)
{
    const Config *config = &task->configs[index - 1];
    int n_peers = 0;
    *group = (CellGroup){.index = index};
    TRY(peer_list(&task->peer, config, group->peers, &n_peers));
    group->rounds = rounds_of(task, config, n_peers);
    for (int i = 0; i <= n_peers; i++) {
        CellGroupMember *member = &group->members[i];
        *member = (CellGroupMember){
            .task = task, .config = config, .part = *config, .progress = progress};
        if (i > 0) member->peer = &group->peers[i - 1];
        const Status status = cell_record_begin_peer(&member->cell, config, member->peer);
        if (status != ST_OK) cell_group_free(group);
        TRY(status);
        group->n++;
    }
    group->left = group->n * group->rounds;
    return ST_OK;
}

/* ---- how much there is to do ---- */

static double weight_of(const RunnerTask *task, const Config *config)
{
    return task->weight ? task->weight(config) : 1;
}

/* Of all `steps`, those of one round. */
static int64_t steps_of(const CellGroup *group, int64_t steps, int round)
{
    if (group->n > 1) return steps;
    return steps * (round + 1) / group->rounds - steps * round / group->rounds;
}

double cell_group_weight(const CellGroup *group)
{
    double sum = 0;
    Config part = *group->members[0].config;
    for (int round = 0; round < group->rounds; round++) {
        part.steps = steps_of(group, group->members[0].config->steps, round);
        sum += weight_of(group->members[0].task, &part) * group->n;
    }
    return sum;
}

/* ---- one cell ---- */

static CellLabel label_of(const CellGroupMember *member)
{
    const RunnerTask *task = member->task;
    CellLabel label = cell_label_among(member->config, task->configs, task->n, task->varies);
    if (task->doing) {
        const CellLabel name = label;
        snprintf(label.s, sizeof label.s, "%s %.*s", task->doing,
                 (int)(sizeof label.s - strlen(task->doing) - 2), name.s);
    }
    const size_t n = strlen(label.s);
    if (member->peer) {
        snprintf(label.s + n, sizeof label.s - n, " (%s %s)", member->peer->name,
                 member->peer->variant);
    }
    return label;
}

Status cell_group_run(CellGroup *group, int index, int round, bool *interrupted)
{
    CellGroupMember *member = &group->members[index];
    *interrupted = false;
    group->left--;
    if (round > 0 && member->over) return ST_OK;
    member->part.steps = steps_of(group, member->config->steps, round);
    progress_cell(member->progress, group->index, label_of(member).s, &member->part,
                  weight_of(member->task, &member->part));
    cell_record_again(&member->cell);
    TRY(run_in_child(member));
    member->over = !cell_record_is_ok(&member->cell, &member->end);
    progress_done(member->progress, clock_seconds(), member->over);
    *interrupted = member->end.end == CHILD_INTERRUPTED;
    group->left += *interrupted;
    return ST_OK;
}

/* ---- cells that share a process ---- */

typedef struct Shared {
    CellGroup **groups;
    Config configs[CELL_GROUP_SHARED];
    int n, at;
} Shared;

static CellGroupMember *current(const Shared *shared)
{
    return &shared->groups[shared->at]->members[0];
}

static int run_shared_body(void *arg, int out)
{
    const Shared *shared = arg;
    CellLink link;
    cell_link_open(&link, out);
    Status status = cell_run_shared(shared->configs, shared->n, &link);
    if (status != ST_OK) status = cell_link_end(&link, status_word(status), status_message());
    cell_link_close(&link);
    return status == ST_OK ? 0 : 1;
}

static void begin_shared(const Shared *shared)
{
    CellGroupMember *member = current(shared);
    progress_cell(member->progress, shared->groups[shared->at]->index, label_of(member).s,
                  &member->part, weight_of(member->task, &member->part));
}

/* The next cell begins: the one before it has ended as it said. */
static void on_shared_message(void *self, const char *line, size_t length)
{
    Shared *shared = self;
    CellGroupMember *member = current(shared);
    int next = 0;
    if (sscanf(line, "{\"next\":%d}", &next) != 1 || next != shared->at + 1 || next >= shared->n) {
        on_message(member, line, length);
        return;
    }
    progress_done(member->progress, clock_seconds(), false);
    shared->at = next;
    begin_shared(shared);
}

static void on_shared_printed(void *self, const char *line)
{
    on_printed(current(self), line);
}

static void on_shared_tick(void *self)
{
    on_tick(current(self));
}

Status cell_group_run_shared(CellGroup *groups[], int n, int *done, bool *interrupted)
{
    Shared shared = {.groups = groups, .n = n < CELL_GROUP_SHARED ? n : CELL_GROUP_SHARED};
    ChildResult end;
    for (int i = 0; i < shared.n; i++) shared.configs[i] = groups[i]->members[0].part;
    const ChildTask child = {.body = run_shared_body,
                             .arg = &shared,
                             .timeout = shared.configs[0].timeout,
                             .self = &shared,
                             .message = on_shared_message,
                             .printed = on_shared_printed,
                             .tick = on_shared_tick};
    begin_shared(&shared);
    TRY(child_run(&child, &end));
    progress_done(current(&shared)->progress, clock_seconds(), false);
    current(&shared)->end = end;
    *interrupted = end.end == CHILD_INTERRUPTED;
    *done = shared.at + !*interrupted;
    return ST_OK;
}

/* ---- what is found ---- */

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

Status cell_group_finish(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome)
{
    Record *records[1 + PEER_MAX];
    for (int i = 0; i < group->n; i++) {
        CellGroupMember *member = &group->members[i];
        if (i > 0) TRY(share_work(records[0], member->cell.record));
        if (group->rounds > 1 || group->n > 1)
            TRY(record_put_int(member->cell.record, "rounds", group->rounds));
        TRY(cell_record_finish(&member->cell, &member->end));
        records[i] = member->cell.record;
    }
    TRY(peer_judge(records[0], records + 1, group->n - 1));
    for (int i = 0; i < group->n; i++) {
        const CellGroupMember *member = &group->members[i];
        count_if_bad(records[i], outcome);
        TRY(record_set_add(rows, records[i]));
        progress_cell(member->progress, group->index, label_of(member).s, member->config, 0);
        progress_finished(member->progress, records[i], clock_seconds());
        const RunnerTask *task = member->task;
        if (task->finished) TRY(task->finished(task->self, records[i]));
    }
    return ST_OK;
}

Status cell_group_resume(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome)
{
    Record *old[1 + PEER_MAX];
    for (int i = 0; i < group->n; i++) {
        const CellGroupMember *member = &group->members[i];
        old[i] = known(member->task, member->cell.record);
        TRY(record_stat_change(old[i], member->config->stat));
    }
    TRY(peer_judge(old[0], old + 1, group->n - 1)); /* by that statistic, too */
    for (int i = 0; i < group->n; i++) {
        const CellGroupMember *member = &group->members[i];
        progress_kept(member->progress, group->index, label_of(member).s, old[i]);
        count_if_bad(old[i], outcome);
        TRY(record_set_share(rows, member->task->resumed, old[i]));
    }
    outcome->kept++;
    return ST_OK;
}
