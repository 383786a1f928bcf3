/* Something that watches the nodes of a plan run: a timer, NVTX, CUPTI, a memory log.
 *
 * Ops know nothing of observers. session_run() calls them, and it alone. */
#pragma once

#include "backend/backend.h"
#include "plan/plan.h"

typedef struct ObserverEvent {
    const Plan *plan;
    int node; /* index into plan->nodes */
    const BackendApi *api;
    Backend *backend;
    void *const *memory; /* of every tensor */
    const char *impl;
} ObserverEvent;

typedef struct Observer {
    void *self;
    Status (*begin)(void *self, const ObserverEvent *event); /* NULL: not interested */
    Status (*end)(void *self, const ObserverEvent *event);
} Observer;

/* Is told what the communication queue does while the observers see the other nodes. All zero: nobody; then
 * nothing runs beside a node that observers see. Times are clock_nanoseconds(). */
typedef struct CommWatch {
    void *self;
    void (*ran)(void *self, int node, int64_t begin, int64_t end); /* in the queue's thread */
    /* Before `node` (PLAN_NONE: the end of the pass) the session waited for the queue. */
    void (*waited)(void *self, int node, int64_t begin, int64_t end);
} CommWatch;
