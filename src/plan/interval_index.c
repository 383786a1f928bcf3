#include "base/i64.h"
#include "plan/arena_packing.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = INTERVAL_INDEX_PAGE, HALF = PAGE / 2 };

/* Every page but the first was once a full half, so that many are enough. */
static size_t pages_for(int n)
{
    return (size_t)n / HALF + 2;
}

bool interval_index_init(IntervalIndex *list, int n)
{
    *list = (IntervalIndex){.pages = calloc(pages_for(n), sizeof *list->pages),
                            .pool = calloc(pages_for(n) * PAGE, sizeof *list->pool)};
    return list->pages && list->pool;
}

void interval_index_free(IntervalIndex *list)
{
    free(list->pages);
    free(list->pool);
    *list = (IntervalIndex){0};
}

void interval_index_clear(IntervalIndex *list)
{
    list->n_pages = 0;
}

/* ---- inserting ---- */

/* Blocks of one address live at different times; by `first`, those of a page live close together. */
static bool is_before(const Interval *a, const Interval *b)
{
    return a->begin != b->begin ? a->begin < b->begin : a->first < b->first;
}

static void summarise(IntervalPage *page)
{
    const Interval *b = page->blocks;
    page->begin = b->begin;
    page->end = b->end;
    page->widest_gap = 0;
    page->earliest_first = page->latest_first = b->first;
    page->earliest_last = page->latest_last = b->last;
    for (b++; b < page->blocks + page->n; b++) {
        page->earliest_first = (int)i64_min(page->earliest_first, b->first);
        page->latest_first = (int)i64_max(page->latest_first, b->first);
        page->earliest_last = (int)i64_min(page->earliest_last, b->last);
        page->latest_last = (int)i64_max(page->latest_last, b->last);
        if (b->begin > page->end && b->begin - page->end > page->widest_gap) {
            page->widest_gap = b->begin - page->end;
        }
        if (b->end > page->end) page->end = b->end;
    }
}

/* An empty page at `index`. */
static IntervalPage *new_page(IntervalIndex *list, int index)
{
    IntervalPage *page = &list->pages[index];
    memmove(page + 1, page, (size_t)(list->n_pages - index) * sizeof *page);
    *page = (IntervalPage){.blocks = list->pool + (size_t)list->n_pages * PAGE};
    list->n_pages++;
    return page;
}

/* The upper half of a full page becomes the next one. */
static void split(IntervalIndex *list, int index)
{
    IntervalPage *upper = new_page(list, index + 1), *lower = &list->pages[index];
    memcpy(upper->blocks, lower->blocks + HALF, HALF * sizeof *upper->blocks);
    upper->n = lower->n = HALF;
    summarise(upper);
    summarise(lower);
}

/* The last page that starts before the block, or the first. */
static int page_for(const IntervalIndex *list, const Interval *block)
{
    int low = 0, high = list->n_pages;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (is_before(&list->pages[middle].blocks[0], block)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low - 1 : 0;
}

void interval_index_insert(IntervalIndex *list, Interval block)
{
    if (list->n_pages == 0) new_page(list, 0);
    if (list->pages[page_for(list, &block)].n == PAGE) split(list, page_for(list, &block));
    IntervalPage *page = &list->pages[page_for(list, &block)];
    int at = page->n++;
    for (; at > 0 && is_before(&block, &page->blocks[at - 1]); at--) {
        page->blocks[at] = page->blocks[at - 1];
    }
    page->blocks[at] = block;
    summarise(page);
}

/* ---- searching ---- */

/* `at` is the lowest address that may still be free, and is raised past the page; false when the gap
 * is found before that. */
static bool pass_blocks(const IntervalPage *page, size_t bytes, int first, int last, size_t *at)
{
    for (int i = 0; i < page->n; i++) {
        const Interval *b = &page->blocks[i];
        if (b->last < first || b->first > last) continue;
        if (b->begin >= *at + bytes) return false;
        if (b->end > *at) *at = b->end;
    }
    return true;
}

static bool pass_page(const IntervalPage *page, size_t bytes, int first, int last, size_t *at)
{
    if (page->end <= *at) return true;
    const bool none_alive = page->latest_last < first || page->earliest_first > last;
    if (none_alive) return true;
    const bool all_alive = page->latest_first <= last && page->earliest_last >= first;
    if (!all_alive || page->widest_gap >= bytes) return pass_blocks(page, bytes, first, last, at);
    if (page->begin >= *at + bytes) return false;
    *at = page->end;
    return true;
}

size_t interval_index_lowest_gap(const IntervalIndex *list, size_t bytes, int first, int last)
{
    size_t at = 0;
    for (int i = 0; i < list->n_pages; i++) {
        if (!pass_page(&list->pages[i], bytes, first, last, &at)) break;
    }
    return at;
}
