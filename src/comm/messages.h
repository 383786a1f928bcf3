/* Collectives of ranks on several machines, by MPI's messages: every rank is sent what the
 * others have of its shard, sums it in the order of ranks, as ranks that share memory do
 * (comm/shared_window.h), and sends the sum to all. */
#pragma once

#include "base/status.h"
#include "comm/mpi_engine.h"
#include "plan/plan.h"

typedef struct Messages {
    const MpiEngine *engine;
    int rank, ranks;
    size_t segment;      /* bytes of a rank's share of a chunk */
    char *sent, *gotten; /* a segment for every rank */
    int *ints;           /* four for every rank: bytes and offsets, sent and gotten */
} Messages;

/* `m->engine`, `rank`, `ranks` and `segment` are set. */
Status messages_init(Messages *m);
void messages_free(Messages *m);

/* As those of shared_window.h. */
Status messages_all_reduce(Messages *m, const void *in, void *out, int64_t count, DType dtype,
                           float scale);
Status messages_reduce_scatter(Messages *m, const void *in, void *out, int64_t count, DType dtype,
                               float scale);
Status messages_all_gather(Messages *m, const void *in, void *out, int64_t count, DType dtype);
Status messages_broadcast(Messages *m, void *data, size_t bytes, int root);

/* ST_FAILED with MPI's text unless the code is 0. */
Status messages_check(const MpiEngine *engine, int code, const char *what);
