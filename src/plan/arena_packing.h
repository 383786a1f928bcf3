/* Blocks of known size and lifetime -> places in one arena, so that no two blocks that are alive at
 * the same time overlap and the arena is small. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct PackingBlock {
    size_t bytes;
    int first, last; /* alive from `first` to `last`, both included; 0 <= first <= last < n_times */
    size_t offset;   /* the answer */
} PackingBlock;

/* Fills the offsets and *arena, the end of the highest block. The same blocks in the same order get
 * the same places on every machine. Offsets are sums of sizes, and so aligned when all sizes are. The
 * sizes together must be less than SIZE_MAX / 2. */
Status arena_packing_place(PackingBlock *blocks, int n, int n_times, size_t *arena);

/* ---- interval_index.c ---- */

/* Blocks that have their place in an arena, by address: where is the lowest gap for one more?
 *
 * They lie in pages, each with a summary that mostly answers for all of its blocks, so that a plan of a
 * thousand layers is packed in a fraction of a second. */

typedef struct Interval {
    size_t begin, end;
    int first, last; /* alive from `first` to `last`, both included */
} Interval;

enum { INTERVAL_INDEX_PAGE = 128 };

typedef struct IntervalPage {
    size_t begin, end; /* from its lowest block to the end of its highest */
    size_t widest_gap; /* between its blocks, were they all alive at once */
    int earliest_first, latest_first, earliest_last, latest_last;
    int n;
    Interval *blocks; /* by `begin`, then by `first` */
} IntervalPage;

typedef struct IntervalIndex {
    IntervalPage *pages; /* by address */
    int n_pages;
    Interval *pool; /* the pages' blocks */
} IntervalIndex;

/* Room for `n` blocks; false when there is no memory (interval_index_free() is due either way). */
bool interval_index_init(IntervalIndex *list, int n);
void interval_index_free(IntervalIndex *list);
void interval_index_clear(IntervalIndex *list);

void interval_index_insert(IntervalIndex *list, Interval block);
/* The lowest address where `bytes` are free from `first` to `last`. */
size_t interval_index_lowest_gap(const IntervalIndex *list, size_t bytes, int first, int last);
