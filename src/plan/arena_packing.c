/* Greedy: block after block into the lowest gap that is free over its whole life. Which order is good
 * depends on the blocks, so several are tried until one comes close to the bytes alive at the fullest
 * moment, below which no arena can go; mostly the first one does. Where there is time, an order is
 * tried again with the blocks first that had found no place below. */
#include "plan/arena_packing.h"

#include "base/array.h"
#include "base/i64.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A block in the order of placing. */
typedef struct Turn {
    int promoted;  /* those most often promoted go first, */
    double weight; /* then the heaviest */
    const PackingBlock *block;
} Turn;

/* No two turns are equal, so the outcome does not depend on qsort. */
static int by_weight(const void *a, const void *b)
{
    const Turn *x = a, *y = b;
    if (x->promoted != y->promoted) return x->promoted < y->promoted ? 1 : -1;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    const PackingBlock *s = x->block, *t = y->block;
    if (s->bytes != t->bytes) return s->bytes < t->bytes ? 1 : -1;
    if (s->first != t->first) return s->first < t->first ? -1 : 1;
    return s < t ? -1 : s > t;
}

/* ---- orders ---- */

typedef double WeightFn(const PackingBlock *block);

static double large_first(const PackingBlock *b)
{
    return (double)b->bytes;
}

static double long_lived_first(const PackingBlock *b)
{
    return (double)b->last - (double)b->first + 1;
}

static double area_first(const PackingBlock *b)
{
    return large_first(b) * long_lived_first(b);
}

static double early_first(const PackingBlock *b)
{
    return -(double)b->first;
}

static WeightFn *const orders[] = {large_first, area_first, long_lived_first, early_first};
enum { N_ORDERS = sizeof orders / sizeof *orders };

/* ---- placing ---- */

typedef struct Work {
    Turn *turns;
    IntervalIndex *placed;
    size_t *offsets; /* of the attempt under way */
    int *promoted;   /* how often each block was */
} Work;

static void take_turns(const PackingBlock *blocks, int n, WeightFn *weight, Work *work)
{
    for (int i = 0; i < n; i++)
        work->turns[i] = (Turn){work->promoted[i], weight(&blocks[i]), &blocks[i]};
    qsort(work->turns, (size_t)n, sizeof *work->turns, by_weight);
}

/* Returns the arena, or anything from `best` on: it gives up there. Blocks that end above `low` are
 * promoted. */
static size_t attempt(const PackingBlock *blocks, int n, size_t best, size_t low, Work *work)
{
    size_t arena = 0;
    interval_index_clear(work->placed);
    for (int i = 0; i < n && arena < best; i++) {
        const PackingBlock *b = work->turns[i].block;
        const size_t begin = interval_index_lowest_gap(work->placed, b->bytes, b->first, b->last);
        const size_t end = begin + b->bytes;
        interval_index_insert(work->placed, (Interval){begin, end, b->first, b->last});
        work->offsets[b - blocks] = begin;
        if (end > arena) arena = end;
        if (end > low) work->promoted[b - blocks]++;
    }
    return arena;
}

/* Bytes alive at the fullest moment. `change` is n_times + 1 zeros; its unsigned sums may wrap. */
static size_t fullest(const PackingBlock *blocks, int n, int n_times, size_t *change)
{
    size_t live = 0, most = 0;
    for (int i = 0; i < n; i++) {
        change[blocks[i].first] += blocks[i].bytes;
        change[blocks[i].last + 1] -= blocks[i].bytes;
    }
    for (int t = 0; t < n_times; t++) {
        live += change[t];
        if (live > most) most = live;
    }
    return most;
}

/* The more blocks, the longer an attempt takes and the less there is to gain from another order: this
 * keeps all of them together below some tenths of a second. */
static int attempts_for(int n)
{
    const double attempts = 4e8 / ((double)n * (double)n);
    return attempts < 1 ? 1 : attempts > 4 * N_ORDERS ? 4 * N_ORDERS : (int)attempts;
}

static size_t try_orders(PackingBlock *blocks, int n, size_t least, Work *work)
{
    const size_t good_enough = least + least / 256;
    const int attempts = attempts_for(n), rounds = (int)i64_ceil_div(attempts, N_ORDERS);
    size_t best = SIZE_MAX;
    for (int k = 0; k < attempts && best > good_enough; k++) {
        if (k % rounds == 0) memset(work->promoted, 0, (size_t)n * sizeof *work->promoted);
        take_turns(blocks, n, orders[k / rounds], work);
        const size_t arena = attempt(blocks, n, best, good_enough, work);
        if (arena >= best) continue;
        best = arena;
        for (int i = 0; i < n; i++) blocks[i].offset = work->offsets[i];
    }
    return best;
}

Status arena_packing_place(PackingBlock *blocks, int n, int n_times, size_t *arena)
{
    *arena = 0;
    if (n == 0) return ST_OK;
    CLEANUP(array_free) size_t *change = calloc((size_t)n_times + 1, sizeof *change);
    CLEANUP(array_free) Turn *turns = calloc((size_t)n, sizeof *turns);
    CLEANUP(array_free) size_t *offsets = calloc((size_t)n, sizeof *offsets);
    CLEANUP(array_free) int *promoted = calloc((size_t)n, sizeof *promoted);
    CLEANUP(interval_index_free) IntervalIndex placed = {0};
    if (!interval_index_init(&placed, n) || !change || !turns || !offsets || !promoted)
        return NO_MEMORY("for %d blocks", n);
    Work work = {turns, &placed, offsets, promoted};
    *arena = try_orders(blocks, n, fullest(blocks, n, n_times, change), &work);
    return ST_OK;
}
