/* How a plan would run on a backend: an implementation for every node, a place for every tensor.
 * Needs no device, so it also answers "how much memory" and "what cannot run" beforehand. */
#pragma once

#include "ops/op.h"
#include "plan/mem_plan.h"

typedef struct Binding {
    const Plan *plan; /* outlives the binding */
    BackendId backend;
    int threads;
    OpImpl *impls;     /* of each node */
    size_t *workspace; /* bytes each asks for */
    int *
        waits; /* the communication node that each waits for (exec/node_waits.h); PLAN_NONE: none */
    MemPlan mem;
} Binding;

/* Every node gets the first implementation that takes it; where an op has one named in `prefer` (ended by
 * NULL; NULL for none) that one is tried first. "reference" is the plain reference of every op. */
Status binding_make(Binding *binding, const Plan *plan, BackendId backend, int threads,
                    const char *const *prefer);
void binding_free(Binding *binding);
