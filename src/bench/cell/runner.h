/* A sweep: its cells one after the other, each in a process of its own, each record handed on the
 * moment it is there. */
#pragma once

#include "bench/cell/peer.h"
#include "bench/cell/progress.h"
#include "bench/measure/cell_link.h"
#include "bench/record/record_set.h"

/* Runs in a child. Tells what it finds and how it ended through the link; when it returns a failure
 * instead, that is how it ended (ST_NO_MEMORY: oom, ST_UNSUPPORTED: unsupported, else failed). */
typedef Status RunnerCell(const Config *config, CellLink *link);

typedef struct RunnerTask {
    const Config *configs;
    int n;
    const bool *varies; /* Sweep.varies, for the cells' names; may be NULL */
    const char *
        doing; /* before the cells' names, where they alone do not say what is run: "profile"; may be NULL */
    RunnerCell *cell;
    const RecordSet *resumed; /* what is known already; may be NULL */
    PeerChoice peer;          /* what runs in turn with each cell */
    PeerWords *peer_words;    /* what it is told beside the cell; may be NULL */
    /* 0: one cell after the other. Otherwise the steps of each are taken in as many rounds (beside a peer
     * those of PeerChoice), and the cells of a round run in random order. */
    int rounds;
    void *self;
    Status (*finished)(void *self, Record *record); /* keep it now; a failure ends the sweep */
} RunnerTask;

typedef struct RunnerOutcome {
    int kept;   /* cells of `resumed` that were not run again */
    int bad;    /* rows of ours that ended oom, timeout, killed or failed */
    int signal; /* the one that stopped the sweep, or 0 */
} RunnerOutcome;

/* Adds the rows to `rows` in the order of the sweep, those that are kept among them, the peers' after
 * the cell's own. After Ctrl-C or a failure, those that are finished. */
Status runner_run(const RunnerTask *task, RecordSet *rows, RunnerOutcome *outcome);
