/* Collectives in place on arrays that all ranks see: what a rank has, the others read where it
 * is, and every byte moves once. (Arrays of one's own go through windows: comm/shared_window.h.) */
#pragma once

#include "comm/shared_window.h"

typedef struct SharedArray {
    char *base[SHARED_WINDOW_RANKS]; /* of each rank's array, here */
    size_t bytes;                    /* of each */
} SharedArray;

/* Whether these bytes are part of this rank's array. Others have theirs at the same place. */
bool shared_array_has(const SharedArray *a, int rank, const void *data, size_t bytes);

/* As those of shared_window.h; `data` is in the array, a shard may be anywhere. */
void shared_array_all_reduce(SharedWindow *w, const SharedArray *a, void *data, int64_t count,
                             DType dtype, float scale);
void shared_array_reduce_scatter(SharedWindow *w, const SharedArray *a, const void *data,
                                 void *shard, int64_t count, DType dtype, float scale);
void shared_array_all_gather(SharedWindow *w, const SharedArray *a, const void *shard, void *data,
                             int64_t count, DType dtype);
void shared_array_broadcast(SharedWindow *w, const SharedArray *a, void *data, size_t bytes,
                            int root);
