#include "bench/cell/cell_group.h"

#include "base/clock.h"
#include "bench/cell/cell.h"
#include "bench/estimate/time_estimate.h"
#include "bench/record/cell_label.h"
#include "bench/record/record_stat.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PRINTED = 20 }; /* lines of a cell that are passed on */

/* ---- one process ---- */

/* What a process runs: one member, or ours of several cells that share it. */
typedef struct Run {
    CellGroup **groups;
    CellGroupMember *members[CELL_GROUP_SHARED];
    Config configs[CELL_GROUP_SHARED];
    int n, at;
} Run;

/* In the child. */
static int run_body(void *arg, int out)
{
    const Run *run = arg;
    const CellGroupMember *member = run->members[0];
    CellLink link;
    cell_link_open(&link, out);
    Status status = member->peer ? peer_run(member->peer, &member->part, member->cell.record,
                                            member->task->peer_words, &link)
                    : run->n > 1 ? cell_run_shared(run->configs, run->n, &link)
                                 : member->task->cell(&member->part, &link);
    if (status != ST_OK) status = cell_link_fail(&link, status);
    cell_link_close(&link);
    return status == ST_OK ? 0 : 1;
}

/* In the parent: all that follows. */
static CellGroupMember *current(const Run *run)
{
    return run->members[run->at];
}

/* "profile small ctx 256 (torch best)" */
static CellLabel label_of(const CellGroupMember *member)
{
    const RunnerTask *task = member->task;
    const Peer *peer = member->peer;
    CLEANUP(text_free) Text text = {0};
    CellLabel label;
    if (task->doing) text_printf(&text, "%s ", task->doing);
    text_puts(&text, cell_label_among(member->config, task->configs, task->n, task->varies).s);
    if (peer) text_printf(&text, " (%s %s)", peer->name, peer->variant);
    snprintf(label.s, sizeof label.s, "%s", text_str(&text));
    return label;
}

static void show_cell(const Run *run)
{
    const CellGroupMember *member = current(run);
    progress_cell(member->progress, run->groups[run->at]->index, label_of(member).s, &member->part,
                  time_estimate_weight(&member->part));
}

/* The next cell begins: the one before it has ended as it said. */
static void on_message(void *self, const char *line, size_t length)
{
    Run *run = self;
    int next = 0;
    if (sscanf(line, "{\"next\":%d}", &next) != 1 || next != run->at + 1 || next >= run->n) {
        cell_record_take(&current(run)->cell, line, length);
        return;
    }
    progress_done(current(run)->progress, clock_seconds(), false);
    run->at = next;
    show_cell(run);
}

static void on_printed(void *self, const char *line)
{
    CellGroupMember *member = current(self);
    if (++member->printed < MOST_PRINTED) {
        progress_line(member->progress, line);
    } else if (member->printed == MOST_PRINTED) {
        progress_line(member->progress, "(this cell printed more lines; they are not shown)");
    }
}

static void on_tick(void *self)
{
    const CellGroupMember *member = current(self);
    progress_draw(member->progress, &member->cell, clock_seconds());
}

/* Ranks watch the time themselves: they know which of them is late. */
static Status run_in_child(Run *run, ChildResult *end)
{
    static const double for_ranks = 10; /* seconds */
    const Config *config = current(run)->config;
    const bool ranks = config->ranks > 1 || config->subject == SUBJECT_COLLECTIVE;
    const ChildTask child = {.body = run_body,
                             .arg = run,
                             .timeout = config->timeout + (ranks ? for_ranks : 0),
                             .self = run,
                             .message = on_message,
                             .printed = on_printed,
                             .tick = on_tick,
                             .adopts = ranks};
    show_cell(run);
    return child_run(&child, end);
}

/* ---- what need not run ---- */

static Record *known(const RunnerTask *task, const Record *wanted)
{
    Record *record = task->resumed ? record_set_find(task->resumed, record_key(wanted)) : NULL;
    return record && cell_record_is_final(record) ? record : NULL;
}

bool cell_group_is_apart(const CellGroup *group)
{
    return group->members[0].config->curve > 0;
}

static Record *known_alone(const CellGroupMember *member)
{
    return member->config->curve > 0 ? known(member->task, member->cell.record) : NULL;
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
        const Status status = cell_record_begin(&member->cell, config, member->peer);
        if (status != ST_OK) cell_group_free(group);
        TRY(status);
        group->n++;
    }
    group->left = group->n * group->rounds;
    return ST_OK;
}

/* ---- how much there is to do ---- */

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
        sum += time_estimate_weight(&part) * group->n;
    }
    return sum;
}

/* ---- one cell ---- */

Status cell_group_run(CellGroup *group, int index, int round, bool *interrupted)
{
    CellGroupMember *member = &group->members[index];
    Run run = {.groups = &group, .members = {member}, .n = 1};
    *interrupted = false;
    group->left--;
    if ((round > 0 && member->over) || known_alone(member)) return ST_OK;
    member->part.steps = steps_of(group, member->config->steps, round);
    cell_record_again(&member->cell);
    TRY(run_in_child(&run, &member->end));
    member->over = !cell_record_is_ok(&member->cell, &member->end);
    progress_done(member->progress, clock_seconds(), member->over);
    *interrupted = member->end.end == CHILD_INTERRUPTED;
    group->left += *interrupted;
    return ST_OK;
}

Status cell_group_run_shared(CellGroup *groups[], int n, int *done, bool *interrupted)
{
    Run run = {.groups = groups, .n = n < CELL_GROUP_SHARED ? n : CELL_GROUP_SHARED};
    ChildResult end;
    for (int i = 0; i < run.n; i++) {
        run.members[i] = &groups[i]->members[0];
        run.configs[i] = run.members[i]->part;
    }
    TRY(run_in_child(&run, &end));
    progress_done(current(&run)->progress, clock_seconds(), false);
    current(&run)->end = end;
    *interrupted = end.end == CHILD_INTERRUPTED;
    *done = run.at + !*interrupted;
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

/* Folders are renamed, and two that share a name have it with their hash: a row of the file is called as new
 * ones are. */
static Status name_as_asked(Record *record, const Config *config)
{
    if (config->subject != SUBJECT_MODEL || !model_spec_is_file(&config->model)) return ST_OK;
    return record_put_text(record, "size", config->model.size);
}

/* A row of the file by what is asked for now. */
static Status old_as_asked(Record *old, const Config *config)
{
    TRY(record_stat_change(old, config->stat));
    return name_as_asked(old, config);
}

static Status keep(const CellGroup *group, int i, Record *old, RecordSet *rows,
                   RunnerOutcome *outcome)
{
    const CellGroupMember *member = &group->members[i];
    progress_finished(member->progress, group->index, label_of(member).s, old, " (from the file)");
    count_if_bad(old, outcome);
    return record_set_share(rows, member->task->resumed, old);
}

static Status hand_on(const CellGroup *group, int i, RecordSet *rows, RunnerOutcome *outcome)
{
    const CellGroupMember *member = &group->members[i];
    const RunnerTask *task = member->task;
    count_if_bad(member->cell.record, outcome);
    TRY(record_set_add(rows, member->cell.record));
    progress_finished(member->progress, group->index, label_of(member).s, member->cell.record, "");
    return task->finished ? task->finished(task->self, member->cell.record) : ST_OK;
}

Status cell_group_finish_one(CellGroup *group, int index, RecordSet *rows, RunnerOutcome *outcome)
{
    CellGroupMember *member = &group->members[index];
    const CellGroupMember *ours = &group->members[0];
    Record *old = known_alone(member), *old_ours = known_alone(ours);
    if (old) {
        TRY(old_as_asked(old, member->config));
        return keep(group, index, old, rows, outcome);
    }
    if (index > 0) TRY(share_work(old_ours ? old_ours : ours->cell.record, member->cell.record));
    TRY(cell_record_finish(&member->cell, &member->end));
    return hand_on(group, index, rows, outcome);
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
    for (int i = 0; i < group->n; i++) TRY(hand_on(group, i, rows, outcome));
    return ST_OK;
}

Status cell_group_resume(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome)
{
    Record *old[1 + PEER_MAX];
    for (int i = 0; i < group->n; i++) {
        const CellGroupMember *member = &group->members[i];
        old[i] = known(member->task, member->cell.record);
        TRY(old_as_asked(old[i], member->config));
    }
    TRY(peer_judge(old[0], old + 1, group->n - 1)); /* by that statistic, too */
    for (int i = 0; i < group->n; i++) TRY(keep(group, i, old[i], rows, outcome));
    outcome->kept++;
    return ST_OK;
}
