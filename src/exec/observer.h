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
