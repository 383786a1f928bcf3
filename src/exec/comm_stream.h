/* The communication queue of a session on a device that has a second queue (BackendApi.beside_*): every
 * collective of the plan is a piece of work in it. This knows which of them the first queue has not
 * waited for yet, so that nothing waits twice, and nothing inside a graph for what was queued outside. */
#pragma once

#include "backend/backend.h"
#include "plan/plan.h"

typedef struct CommStream {
    const BackendApi *api;
    Backend *backend;
    int n;       /* pieces; 0: it is not open */
    int *node;   /* of each piece, in the order of the plan */
    bool *timed; /* of each piece: it has been queued, and has a time */
    int *put;    /* pieces that are queued, of which nobody has waited for those from `waited` on */
    int waited, n_put;
} CommStream;

/* A piece for every collective of the plan; where it has none, the queue stays closed. */
Status comm_stream_open(CommStream *stream, const BackendApi *api, Backend *backend,
                        const Plan *plan);
void comm_stream_close(CommStream *stream);

/* What is queued between the two is the piece of this node. */
Status comm_stream_begin(CommStream *stream, int node);
Status comm_stream_end(CommStream *stream, int node);
/* The first queue waits for every piece up to this node, in the order of the plan; INT_MAX: for all. */
Status comm_stream_wait(CommStream *stream, int node);
/* Adds the time of every piece, when it last ran. */
Status comm_stream_add_seconds(CommStream *stream, double *sum);
