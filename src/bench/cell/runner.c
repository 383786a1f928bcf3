#include "bench/cell/runner.h"

#include "base/rng.h"
#include "bench/cell/cell_group.h"
#include "bench/estimate/time_estimate.h"
#include "bench/measure/interrupt.h"

#include <stdlib.h>

static Status total_weight(const RunnerTask *task, double *sum)
{
    *sum = 0;
    for (int i = 0; i < task->n; i++) {
        CellGroup group;
        TRY(cell_group_make(&group, task, i + 1, NULL));
        if (!cell_group_is_resumed(&group)) *sum += cell_group_weight(&group);
        cell_group_free(&group);
    }
    return ST_OK;
}

/* ---- one cell after the other ---- */

/* Ours, theirs, ours, theirs: a change of the machine meets both. */
static Status run_rounds(CellGroup *group, bool *interrupted)
{
    for (int round = 0; round < group->rounds; round++) {
        for (int i = 0; i < group->n; i++) {
            TRY(cell_group_run(group, i, round, interrupted));
            if (*interrupted) return ST_OK;
        }
    }
    return ST_OK;
}

static Status run_apart(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome)
{
    bool interrupted = false;
    for (int i = 0; i < group->n; i++) {
        TRY(cell_group_run(group, i, 0, &interrupted));
        if (interrupted) return ST_OK;
        TRY(cell_group_finish_one(group, i, rows, outcome));
    }
    return ST_OK;
}

static Status run_group(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome)
{
    bool interrupted = false;
    if (cell_group_is_resumed(group)) return cell_group_resume(group, rows, outcome);
    if (cell_group_is_apart(group)) return run_apart(group, rows, outcome);
    TRY(run_rounds(group, &interrupted));
    return interrupted ? ST_OK : cell_group_finish(group, rows, outcome);
}

static Status run_cells(const RunnerTask *task, Progress *progress, RecordSet *rows,
                        RunnerOutcome *outcome)
{
    for (int i = 0; i < task->n && !interrupt_signal(); i++) {
        CellGroup group;
        TRY(cell_group_make(&group, task, i + 1, progress));
        const Status status = run_group(&group, rows, outcome);
        cell_group_free(&group);
        TRY(status);
    }
    return ST_OK;
}

/* ---- all cells in turn ---- */

/* One member of one cell, once in every round. */
typedef struct Turn {
    int group, member;
} Turn;

typedef struct Turns {
    CellGroup *groups;
    Turn *list;
    int n_groups, n, rounds;
} Turns;

static void turns_free(Turns *turns)
{
    for (int i = 0; i < turns->n_groups; i++) cell_group_free(&turns->groups[i]);
    free(turns->groups);
    free(turns->list);
}

static Status turns_make(Turns *turns, const RunnerTask *task, Progress *progress)
{
    turns->groups = calloc((size_t)task->n, sizeof *turns->groups);
    turns->list = calloc((size_t)task->n * (1 + PEER_MAX), sizeof *turns->list);
    if (!turns->groups || !turns->list) return NO_MEMORY("for %d cells", task->n);
    for (int i = 0; i < task->n; i++) {
        CellGroup *group = &turns->groups[i];
        TRY(cell_group_make(group, task, i + 1, progress));
        turns->n_groups++;
        if (cell_group_is_resumed(group)) continue;
        if (group->rounds > turns->rounds) turns->rounds = group->rounds;
        for (int m = 0; m < group->n; m++) turns->list[turns->n++] = (Turn){i, m};
    }
    return ST_OK;
}

/* Fisher and Yates; the same seed gives the same order. */
static void shuffle(Turns *turns, uint64_t seed, int round)
{
    for (int i = turns->n - 1; i > 0; i--) {
        const int64_t j = rng_below(seed, (uint64_t)round, (uint64_t)i, i + 1);
        const Turn other = turns->list[j];
        turns->list[j] = turns->list[i];
        turns->list[i] = other;
    }
}

static Status run_turns(Turns *turns, uint64_t seed)
{
    bool interrupted = false;
    for (int round = 0; round < turns->rounds; round++) {
        shuffle(turns, seed, round);
        for (int i = 0; i < turns->n; i++) {
            CellGroup *group = &turns->groups[turns->list[i].group];
            if (round >= group->rounds) continue;
            TRY(cell_group_run(group, turns->list[i].member, round, &interrupted));
            if (interrupted) return ST_OK;
        }
    }
    return ST_OK;
}

static Status finish_turns(Turns *turns, RecordSet *rows, RunnerOutcome *outcome)
{
    for (int i = 0; i < turns->n_groups; i++) {
        CellGroup *group = &turns->groups[i];
        if (cell_group_is_resumed(group))
            TRY(cell_group_resume(group, rows, outcome));
        else if (group->left == 0)
            TRY(cell_group_finish(group, rows, outcome));
    }
    return ST_OK;
}

/* Every cell has a part of its steps in every round, and every round an order of its own: a change
 * of the machine meets all cells alike. After Ctrl-C the cells that had all their rounds are kept. */
static Status run_interleaved(const RunnerTask *task, Progress *progress, RecordSet *rows,
                              RunnerOutcome *outcome)
{
    CLEANUP(turns_free) Turns turns = {0};
    TRY(turns_make(&turns, task, progress));
    TRY(run_turns(&turns, (uint64_t)task->configs[0].seed));
    return finish_turns(&turns, rows, outcome);
}

/* ---- the sweep ---- */

Status runner_run(const RunnerTask *task, RecordSet *rows, RunnerOutcome *outcome)
{
    *outcome = (RunnerOutcome){0};
    Progress progress;
    double total = 0;
    TRY(total_weight(task, &total));
    progress_begin(&progress, task->n, total);
    if (task->n > 0 && time_estimate_weight_is_known(&task->configs[0]))
        progress_trust_weights(&progress);
    interrupt_begin();
    const Status status = task->rounds > 0 ? run_interleaved(task, &progress, rows, outcome)
                                           : run_cells(task, &progress, rows, outcome);
    outcome->signal = interrupt_signal();
    interrupt_end();
    progress_end(&progress);
    return status;
}
