/* Collectives of ranks that share memory: each rank has a window that all can read. What a rank
 * does not own of an array it puts into its window; every rank sums its own shard over all
 * windows; the sums come back the same way. Arrays of any length go through in chunks, of which
 * two are under way at a time, with one barrier a chunk.
 *
 * Ranks may be processes or threads. All of them call the same functions with the same sizes in
 * the same order. */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>

enum { SHARED_WINDOW_RANKS = 512 };

typedef struct SharedWindow {
    int rank, ranks;
    char *base[SHARED_WINDOW_RANKS]; /* the windows, by rank; each begins with its barrier's flag */
    size_t segment;                  /* bytes of a rank's share of a chunk */
    uint64_t chunks;                 /* that went through it: they take the two halves in turn */
    uint64_t arrivals;               /* at the barrier, of this rank */
    bool yields; /* more ranks than processors: whoever waits leaves the processor */
} SharedWindow;

/* The bytes of each rank's window. */
size_t shared_window_bytes(int ranks, size_t segment);
/* `w->rank`, `ranks`, `base`, `segment` (of whole cache lines) and `yields` are set. No rank may
 * use the window before all have come back from this. */
void shared_window_init(SharedWindow *w);

void shared_window_barrier(SharedWindow *w);
/* The same for ranks that may be far apart: whoever waits long sleeps. */
void shared_window_meet(SharedWindow *w);
/* out = the sum of all ranks' `in`; `out` may be `in`. */
void shared_window_all_reduce(SharedWindow *w, const void *in, void *out, int64_t count,
                              DType dtype, float scale);
/* out = this rank's shard (plan/shard.h) of that sum; `out` may be the shard of `in`. */
void shared_window_reduce_scatter(SharedWindow *w, const void *in, void *out, int64_t count,
                                  DType dtype, float scale);
/* out = the shards `in` of all ranks; `in` may be the shard of `out`. */
void shared_window_all_gather(SharedWindow *w, const void *in, void *out, int64_t count,
                              DType dtype);
void shared_window_broadcast(SharedWindow *w, void *data, size_t bytes, int root);
