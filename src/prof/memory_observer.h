/* Records when each node began and how much memory the process or the device held then. With the
 * lifetimes of the plan (memory_blocks.h) that dates every allocation and free. */
#pragma once

#include "exec/observer.h"

typedef struct MemoryObserver {
    int n_nodes;
    double *start; /* of each node: seconds since the observer was made; NAN: it did not run */
    double *held;  /* bytes when it had run; NAN */
    double began;
    Status (*ask)(void *self, size_t *bytes); /* what is held now; NULL: not asked */
    void *self;
} MemoryObserver;

/* `ask` is called after every node. memory_observer_free() is due even after a failure. */
Status memory_observer_make(MemoryObserver *observer, const Plan *plan,
                            Status (*ask)(void *self, size_t *bytes), void *self);
void memory_observer_free(MemoryObserver *observer);
/* For session_observe(); `observer` must stay where it is. */
Observer memory_observer_hook(MemoryObserver *observer);
