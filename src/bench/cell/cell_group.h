/* What runs in turn for one cell of a sweep: our own program and its peers, in one round or several,
 * each round of each in a process of its own. Their samples are joined. */
#pragma once

#include "bench/cell/runner.h"

/* One way to run the cell: ours, or a peer's. */
typedef struct CellGroupMember {
    const RunnerTask *task;
    const Config *config; /* as asked for */
    Config part;          /* what the current round takes of it */
    const Peer *peer;     /* NULL: ours */
    Progress *progress;
    CellRecord cell;
    ChildResult end; /* of its last round */
    bool over;       /* another round would make no sense */
    int printed;
} CellGroupMember;

/* Its members point into it: it must stay where it was made. Ours is the first of them. */
typedef struct CellGroup {
    Peer peers[PEER_MAX];
    CellGroupMember members[1 + PEER_MAX];
    int n, rounds;
    int left;  /* rounds of members that are still to run */
    int index; /* of the cell in the sweep, from 1 */
} CellGroup;

Status cell_group_make(CellGroup *group, const RunnerTask *task, int index, Progress *progress);
void cell_group_free(CellGroup *group);

/* All of it is in RunnerTask.resumed already; then cell_group_resume() adds those rows. */
bool cell_group_is_resumed(const CellGroup *group);
Status cell_group_resume(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome);

/* One member's round, unless an earlier one has shown that it makes no sense. `interrupted` is set when
 * Ctrl-C ended it. */
Status cell_group_run(CellGroup *group, int member, int round, bool *interrupted);
/* Ours of several cells that share a process (bench/cell/cell.h), each with one round and no peer.
 * The first *done of them have a result now; those after them were not begun. */
enum { CELL_GROUP_SHARED = 4 };
Status cell_group_run_shared(CellGroup *groups[], int n, int *done, bool *interrupted);
/* Nothing of it is timed (a loss curve): each member runs once, is kept as soon as it has, and is not run
 * again where RunnerTask.resumed has it, whatever that has of the others. */
bool cell_group_is_apart(const CellGroup *group);
/* After such a member has run: settles its record, adds and hands on the row. */
Status cell_group_finish_one(CellGroup *group, int index, RecordSet *rows, RunnerOutcome *outcome);

/* After the last round: settles the records, adds and hands on the rows. */
Status cell_group_finish(CellGroup *group, RecordSet *rows, RunnerOutcome *outcome);

/* How much work all rounds are, as time_estimate_weight() has it. */
double cell_group_weight(const CellGroup *group);
