#include "comm/shared_array.h"

#include "comm/rank_sum.h"
#include "comm/shard_pieces.h"

#include <string.h>

/* Bytes of all ranks that go at a time: large, because ranks wait for each other after each. */
enum { CHUNK = 4 << 20, LINE = 64 };

bool shared_array_has(const SharedArray *a, int rank, const void *data, size_t bytes)
{
    const char *begin = a->base[rank], *at = data;
    return begin && at >= begin && at <= begin + a->bytes &&
           bytes <= (size_t)(begin + a->bytes - at);
}

/* Where `data` is in the array of another rank. */
static char *place(const SharedWindow *w, const SharedArray *a, const void *data, int rank)
{
    return a->base[rank] + ((const char *)data - a->base[w->rank]);
}

static char *own_shard(const SharedWindow *w, const ShardedArray *array, void *data)
{
    return (char *)data + shard_piece(array, w->rank, 0).at;
}

/* Chunk k of this rank's shard gets the sum of all ranks'. */
static void sum_own(const SharedWindow *w, const SharedArray *a, const ShardedArray *array,
                    const void *data, char *shard, int64_t k, DType dtype, float scale)
{
    const void *x[SHARED_WINDOW_RANKS];
    const ShardPiece p = shard_piece(array, w->rank, k);
    for (int r = 0; r < w->ranks; r++) x[r] = place(w, a, data, r) + p.at;
    rank_sum(shard + p.in_shard, NULL, x, w->ranks, p.count, dtype, scale);
}

static void collect(const SharedWindow *w, const SharedArray *a, const ShardedArray *array,
                    char *data, int64_t k)
{
    for (int i = 1; i < w->ranks; i++) { /* each begins with its neighbour */
        const int r = (w->rank + i) % w->ranks;
        const ShardPiece p = shard_piece(array, r, k);
        if (p.bytes > 0) memcpy(data + p.at, place(w, a, data, r) + p.at, p.bytes);
    }
}

static ShardedArray array_of(const SharedWindow *w, int64_t count, DType dtype)
{
    const size_t segment = CHUNK / (size_t)w->ranks / LINE * LINE;
    return (ShardedArray){count, plan_dtype_size(dtype), segment, w->ranks};
}

/* Before the first barrier some ranks have not written what is theirs, before the last one some
 * still read. Chunk k is collected where everybody has summed it; what is overwritten then has
 * been read for that sum. */
void shared_array_all_reduce(SharedWindow *w, const SharedArray *a, void *data, int64_t count,
                             DType dtype, float scale)
{
    const ShardedArray array = array_of(w, count, dtype);
    const int64_t chunks = shard_chunks(&array);
    char *shard = own_shard(w, &array, data);
    for (int64_t round = 0; round <= chunks; round++) {
        shared_window_barrier(w);
        if (round < chunks) sum_own(w, a, &array, data, shard, round, dtype, scale);
        if (round > 0) collect(w, a, &array, data, round - 1);
    }
    shared_window_barrier(w);
}

void shared_array_reduce_scatter(SharedWindow *w, const SharedArray *a, const void *data,
                                 void *shard, int64_t count, DType dtype, float scale)
{
    const ShardedArray array = array_of(w, count, dtype);
    shared_window_barrier(w);
    for (int64_t k = 0; k < shard_chunks(&array); k++)
        sum_own(w, a, &array, data, shard, k, dtype, scale);
    shared_window_barrier(w);
}

void shared_array_all_gather(SharedWindow *w, const SharedArray *a, const void *shard, void *data,
                             int64_t count, DType dtype)
{
    const ShardedArray array = array_of(w, count, dtype);
    char *own = own_shard(w, &array, data);
    const size_t bytes = (size_t)shard_of(count, w->ranks, w->rank).count * array.size;
    if (own != shard && bytes > 0) memcpy(own, shard, bytes);
    shared_window_barrier(w);
    for (int64_t k = 0; k < shard_chunks(&array); k++) collect(w, a, &array, data, k);
    shared_window_barrier(w);
}

/* The root would be idle: it writes the last of as many parts as there are ranks to each of the
 * others, so that all copy as many bytes. */
void shared_array_broadcast(SharedWindow *w, const SharedArray *a, void *data, size_t bytes,
                            int root)
{
    const size_t last = bytes / (size_t)w->ranks, others = bytes - last;
    shared_window_barrier(w);
    if (w->rank != root && others > 0) memcpy(data, place(w, a, data, root), others);
    for (int i = 1; w->rank == root && last > 0 && i < w->ranks; i++)
        memcpy(place(w, a, data, (root + i) % w->ranks) + others, (char *)data + others, last);
    shared_window_barrier(w);
}
