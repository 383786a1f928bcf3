/* A plan on a device: its memory taken, ready to run phase by phase. */
#pragma once

#include "exec/binding.h"
#include "exec/comm_queue.h"
#include "exec/comm_stream.h"
#include "exec/observer.h"

enum { SESSION_MAX_OBSERVERS = 8 };

/* Where the backend has graphs and they have been captured; else NULL. */
typedef struct GraphSet {
    void *phase[PHASE_COUNT];
    void *step; /* forward to optimizer as one; of a step of several micro-batches, which
                   launches it for each, forward and backward */
} GraphSet;

typedef struct Session {
    const Plan *plan;
    const Binding *binding; /* outlives the session */
    const BackendApi *api;
    Backend *backend;
    void *region[TK_COUNT]; /* memory of the persistent kinds */
    void *arena;
    void *
        common; /* its part that other ranks read, where they can: else NULL, and it is in the arena */
    void **memory; /* first element of each tensor */
    void **state;  /* of each node: what its implementation prepared */
    GraphSet graphs;
    /* where there are collectives, of phases that have them; else NULL: */
    GraphSet earlier; /* of all micro-batches but the last */
    GraphSet quiet;   /* without collectives */
    Observer observers[SESSION_MAX_OBSERVERS];
    int n_observers;
    CommWatch watch;        /* of the communication queue */
    struct Comm *comm;      /* the ranks that run the plan: session_join(); NULL: one */
    CommQueue *queue;       /* of nodes that run beside others on a CPU; NULL: none does */
    bool lends;             /* while it is busy the queue has the core of the last thread */
    CommStream stream;      /* of all collectives on a GPU */
    int64_t micro_batch;    /* that runs, from 0; only the last one's gradients travel */
    bool alone;             /* collectives are left out: what a step takes without them */
    double comm_seconds;    /* of collectives so far; on a GPU of steps that were counted */
    double wait_seconds;    /* on a CPU, of the others for the queue so far */
    double prepare_seconds; /* of opening it: choosing algorithms, compiling kernels */
} Session;

Status session_open(Session *s, const Binding *binding, int device);
void session_close(Session *s);
/* Several ranks run the plan. */
Status session_join(Session *s, struct Comm *comm);
/* After a step that has been waited for: adds the time of its collectives, where the device kept it. */
Status session_count_communication(Session *s);
/* Gives the memory back and leaves the device open, its libraries warm: only session_close() may follow. */
void session_release(Session *s);
/* Bytes of `arena`: all of it but what is in `common`. */
size_t session_own_arena(const Session *s);
Status session_observe(Session *s, Observer observer);

/* Runs the nodes of one phase in order, or launches its graph: forward and backward of one micro-batch.
 * Allocates nothing. On a GPU the end of its collectives is the end of the phase; in a whole step those of
 * the backward pass may end later. */
Status session_run(Session *s, Phase phase);
/* One whole step: forward and backward of every micro-batch, optimizer, as far as the plan has them. */
Status session_run_step(Session *s);
/* What session_run() does where there is no graph: queues the nodes. */
Status session_run_nodes(Session *s, Phase phase);
/* Until everything in the communication queue is through. */
Status session_wait(Session *s);

/* From now on nodes run one by one again, until the next capture. */
void session_drop_graphs(Session *s);

/* Whole contiguous tensors between host and device. */
Status session_upload(Session *s, int tensor, const void *src);
Status session_download(Session *s, int tensor, void *dst);

/* ---- session_capture.c ---- */

/* Captures every phase and the whole step; the phases must have run once. ST_UNSUPPORTED where the
 * backend has no graphs. Observers see the nodes while they are captured, not when they are replayed. */
Status session_capture(Session *s);
