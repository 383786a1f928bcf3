#include "comm/shared_window.h"

#include "comm/rank_sum.h"
#include "comm/shard_pieces.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* A window: the flag of the barrier on a cache line of its own (two: processors fetch pairs),
 * then two halves, each a segment for every rank, what this one has of their shards, and one
 * with the result of its own shard. */
enum { HEADER = 128, HALVES = 2, SPINS = 4000 };

static size_t half_bytes(int ranks, size_t segment)
{
    return ((size_t)ranks + 1) * segment;
}

size_t shared_window_bytes(int ranks, size_t segment)
{
    return HEADER + HALVES * half_bytes(ranks, segment);
}

/* The segment of `rank` in the window of `owner`; rank w->ranks: the result's. */
static char *segment_at(const SharedWindow *w, int owner, uint64_t chunk, int rank)
{
    return w->base[owner] + HEADER + chunk % HALVES * half_bytes(w->ranks, w->segment) +
           (size_t)rank * w->segment;
}

/* ---- barrier ---- */

static _Atomic uint64_t *flag_of(const SharedWindow *w, int rank)
{
    return (_Atomic uint64_t *)(void *)w->base[rank];
}

void shared_window_init(SharedWindow *w)
{
    w->chunks = w->arrivals = 0;
    atomic_init(flag_of(w, w->rank), 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* `yield` takes no time there */
#endif
}

/* What whoever waits does the n-th time. */
typedef void Pause(const SharedWindow *w, int n);

static void spin(const SharedWindow *w, int n)
{
    if (w->yields || n > SPINS)
        sched_yield();
    else
        pause_briefly();
}

static void doze(const SharedWindow *w, int n)
{
    const struct timespec moment = {.tv_nsec = 20000};
    if (n > SPINS)
        nanosleep(&moment, NULL);
    else
        spin(w, n);
}

/* Everything that a rank wrote before the barrier is seen by all after it. */
static void wait_for_all(SharedWindow *w, Pause *pause)
{
    const uint64_t number = ++w->arrivals;
    atomic_store_explicit(flag_of(w, w->rank), number, memory_order_release);
    for (int r = 0; r < w->ranks; r++) {
        for (int n = 0; atomic_load_explicit(flag_of(w, r), memory_order_acquire) < number; n++)
            pause(w, n);
    }
}

void shared_window_barrier(SharedWindow *w)
{
    wait_for_all(w, spin);
}

void shared_window_meet(SharedWindow *w)
{
    wait_for_all(w, doze);
}

/* ---- shards ---- */

typedef struct Transfer {
    ShardedArray array;
    DType dtype;
    float scale;        /* of the sum */
    const char *all_in; /* to be summed; NULL: nothing is */
    const char *own_in; /* where nothing is summed: this rank's shard */
    char *own_out;      /* gets this rank's shard of the result */
    char *all_out;      /* gets the others' shards; NULL: they are not wanted */
} Transfer;

static void copy(void *to, const void *from, size_t bytes)
{
    if (to != from && bytes > 0) memcpy(to, from, bytes);
}

/* What the others own, for them to read. */
static void hand_over(const SharedWindow *w, const Transfer *t, int64_t k)
{
    for (int r = 0; r < w->ranks; r++) {
        const ShardPiece p = shard_piece(&t->array, r, k);
        if (r != w->rank)
            copy(segment_at(w, w->rank, w->chunks + (uint64_t)k, r), t->all_in + p.at, p.bytes);
    }
}

static void make_own(const SharedWindow *w, const Transfer *t, int64_t k)
{
    const uint64_t chunk = w->chunks + (uint64_t)k;
    const ShardPiece p = shard_piece(&t->array, w->rank, k);
    char *result = t->all_out ? segment_at(w, w->rank, chunk, w->ranks) : NULL;
    const void *x[SHARED_WINDOW_RANKS];
    if (!t->all_in) {
        copy(result, t->own_in + p.in_shard, p.bytes);
        copy(t->own_out + p.in_shard, t->own_in + p.in_shard, p.bytes);
        return;
    }
    for (int r = 0; r < w->ranks; r++)
        x[r] = r == w->rank ? t->all_in + p.at : segment_at(w, r, chunk, w->rank);
    rank_sum(t->own_out + p.in_shard, result, x, w->ranks, p.count, t->dtype, t->scale);
}

static void collect(const SharedWindow *w, const Transfer *t, int64_t k)
{
    for (int i = 1; i < w->ranks; i++) { /* each begins with its neighbour */
        const int r = (w->rank + i) % w->ranks;
        const ShardPiece p = shard_piece(&t->array, r, k);
        copy(t->all_out + p.at, segment_at(w, r, w->chunks + (uint64_t)k, w->ranks), p.bytes);
    }
}

/* Chunk k is handed over in round k, summed in the next one and collected in the one after. A
 * half is written again two chunks later, and then a barrier lies between that and the last time
 * it was read; so too from one call to the next, and the last round needs no barrier. */
static void transfer(SharedWindow *w, const Transfer *t)
{
    const int64_t chunks = shard_chunks(&t->array);
    const int64_t summed = t->all_in ? 1 : 0, last = summed + (t->all_out ? 1 : 0);
    for (int64_t round = 0; chunks > 0 && round < chunks + last; round++) {
        if (round > 0) shared_window_barrier(w);
        if (t->all_in && round < chunks) hand_over(w, t, round);
        if (round >= summed && round - summed < chunks) make_own(w, t, round - summed);
        if (t->all_out && round > summed) collect(w, t, round - last);
    }
    w->chunks += (uint64_t)chunks;
}

static ShardedArray array_of(const SharedWindow *w, int64_t count, DType dtype)
{
    return (ShardedArray){count, plan_dtype_size(dtype), w->segment, w->ranks};
}

static char *own_shard(const SharedWindow *w, void *data, int64_t count, DType dtype)
{
    const ShardedArray array = array_of(w, count, dtype);
    return (char *)data + shard_piece(&array, w->rank, 0).at;
}

void shared_window_all_reduce(SharedWindow *w, const void *in, void *out, int64_t count,
                              DType dtype, float scale)
{
    transfer(w, &(Transfer){.array = array_of(w, count, dtype),
                            .dtype = dtype,
                            .scale = scale,
                            .all_in = in,
                            .own_out = own_shard(w, out, count, dtype),
                            .all_out = out});
}

void shared_window_reduce_scatter(SharedWindow *w, const void *in, void *out, int64_t count,
                                  DType dtype, float scale)
{
    transfer(w, &(Transfer){.array = array_of(w, count, dtype),
                            .dtype = dtype,
                            .scale = scale,
                            .all_in = in,
                            .own_out = out});
}

void shared_window_all_gather(SharedWindow *w, const void *in, void *out, int64_t count,
                              DType dtype)
{
    transfer(w, &(Transfer){.array = array_of(w, count, dtype),
                            .dtype = dtype,
                            .own_in = in,
                            .own_out = own_shard(w, out, count, dtype),
                            .all_out = out});
}

/* The root writes a chunk while the others read the one before it. */
void shared_window_broadcast(SharedWindow *w, void *data, size_t bytes, int root)
{
    const size_t most = (size_t)w->ranks * w->segment;
    const size_t chunks = (bytes + most - 1) / most;
    for (size_t round = 0; chunks > 0 && round <= chunks; round++) {
        const bool writes = w->rank == root;
        const size_t k = writes ? round : round - 1; /* of the others in round 0: none */
        const size_t at = k * most, left = k < chunks ? bytes - at : 0;
        if (round > 0) shared_window_barrier(w);
        if (k >= chunks) continue;
        char *half = segment_at(w, root, w->chunks + k, 0), *own = (char *)data + at;
        memcpy(writes ? half : own, writes ? own : half, left < most ? left : most);
    }
    w->chunks += chunks;
}
