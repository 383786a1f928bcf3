#include "prof/memory_observer.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

Status memory_observer_make(MemoryObserver *o, const Plan *plan,
                            Status (*ask)(void *self, size_t *bytes), void *self)
{
    const size_t n = (size_t)plan->n_nodes + 1;
    *o = (MemoryObserver){.n_nodes = plan->n_nodes, .ask = ask, .self = self};
    o->start = malloc(n * sizeof *o->start);
    o->held = malloc(n * sizeof *o->held);
    if (!o->start || !o->held) return NO_MEMORY("to watch %d nodes", plan->n_nodes);
    for (int i = 0; i < o->n_nodes; i++) o->start[i] = o->held[i] = NAN;
    o->began = clock_seconds();
    return ST_OK;
}

void memory_observer_free(MemoryObserver *o)
{
    free(o->start);
    free(o->held);
    *o = (MemoryObserver){0};
}

static Status begin(void *self, const ObserverEvent *event)
{
    MemoryObserver *o = self;
    o->start[event->node] = clock_seconds() - o->began;
    return ST_OK;
}

static Status end(void *self, const ObserverEvent *event)
{
    MemoryObserver *o = self;
    size_t bytes = 0;
    if (!o->ask) return ST_OK;
    TRY(o->ask(o->self, &bytes));
    o->held[event->node] = (double)bytes;
    return ST_OK;
}

Observer memory_observer_hook(MemoryObserver *o)
{
    return (Observer){.self = o, .begin = begin, .end = end};
}
