/* Blocks that have their place in an arena, by address: where is the lowest gap for one more?
 *
 * They lie in pages, each with a summary that mostly answers for all of its blocks, so that a plan of a
 * thousand layers is packed in a fraction of a second. */
#ifndef PLAN_PLACED_LIST_H
#define PLAN_PLACED_LIST_H

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

typedef struct PlacedList {
    PlacedPage *pages; /* by address */
    int n_pages;
    Placed *pool; /* the pages' blocks */
} PlacedList;

/* Room for `n` blocks; false when there is no memory (placed_list_free() is due either way). */
bool placed_list_init(PlacedList *list, int n);
void placed_list_free(PlacedList *list);
void placed_list_clear(PlacedList *list);

void placed_list_insert(PlacedList *list, Placed block);
/* The lowest address where `bytes` are free from `first` to `last`. */
size_t placed_list_lowest_gap(const PlacedList *list, size_t bytes, int first, int last);

#endif
