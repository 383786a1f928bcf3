/* A plan bound to a device: an implementation for every node, memory for every tensor. */
#ifndef EXEC_SESSION_H
#define EXEC_SESSION_H

#include "exec/observer.h"
#include "ops/op.h"
#include "plan/mem_plan.h"

/* How a plan would run on a backend; needs no device. */
typedef struct Binding {
    const Plan *plan;
    BackendId backend;
    int threads;
    OpImpl *impls;    /* of each node */
    size_t *workspace; /* bytes each asks for */
    MemPlan mem;
} Binding;

/* `reference` takes the plain reference of every op. */
Status binding_make(Binding *binding, const Plan *plan, BackendId backend, int threads,
                    bool reference);
void binding_free(Binding *binding);

enum { SESSION_MAX_OBSERVERS = 8 };

typedef struct Session {
    const Plan *plan;
    const Binding *binding; /* outlives the session */
    const BackendApi *api;
    Backend *backend;
    void *region[TK_COUNT]; /* memory of the persistent kinds */
    void *arena;
    void **memory; /* first element of each tensor */
    Observer observers[SESSION_MAX_OBSERVERS];
    int n_observers;
} Session;

Status session_open(Session *s, const Binding *binding, int device);
void session_close(Session *s);
Status session_observe(Session *s, Observer observer);

/* Runs the nodes of one phase in order. Allocates nothing. */
Status session_run(Session *s, Phase phase);

Status session_upload(Session *s, int tensor, const void *src);
Status session_download(Session *s, int tensor, void *dst); /* contiguous tensors */

#endif
