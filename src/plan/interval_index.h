/* Blocks that have their place in an arena, by address: where is the lowest gap for one more?
 *
 * They lie in pages, each with a summary that mostly answers for all of its blocks, so that a plan of a
 * thousand layers is packed in a fraction of a second. */
#ifndef PLAN_INTERVAL_INDEX_H
#define PLAN_INTERVAL_INDEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Placed {
    size_t begin, end;
    int first, last; /* alive from `first` to `last`, both included */
} Placed;

enum { PLACED_LIST_PAGE = 128 };

typedef struct PlacedPage {
    size_t begin, end; /* from its lowest block to the end of its highest */
    size_t widest_gap; /* between its blocks, were they all alive at once */
    int earliest_first, latest_first, earliest_last, latest_last;
    int n;
    Placed *blocks; /* by `begin`, then by `first` */
} PlacedPage;

typedef struct IntervalIndex {
    PlacedPage *pages; /* by address */
    int n_pages;
    Placed *pool; /* the pages' blocks */
} IntervalIndex;

/* Room for `n` blocks; false when there is no memory (interval_index_free() is due either way). */
bool interval_index_init(IntervalIndex *list, int n);
void interval_index_free(IntervalIndex *list);
void interval_index_clear(IntervalIndex *list);

void interval_index_insert(IntervalIndex *list, Placed block);
/* The lowest address where `bytes` are free from `first` to `last`. */
size_t interval_index_lowest_gap(const IntervalIndex *list, size_t bytes, int first, int last);

#endif
