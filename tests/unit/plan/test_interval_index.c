/* The pages must not show: the same gap as a look at every block finds. */
#include "base/rng.h"
#include "plan/arena_packing.h"
#include "with_cmocka.h"

#include <stdint.h>
#include <stdlib.h>

enum { N = 3000, TIMES = 400 };

static int by_begin(const void *a, const void *b)
{
    const Interval *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t plain_lowest_gap(Interval *blocks, int n, size_t bytes, int first, int last)
{
    size_t at = 0;
    qsort(blocks, (size_t)n, sizeof *blocks, by_begin);
    for (int i = 0; i < n; i++) {
        if (blocks[i].last < first || blocks[i].first > last) continue;
        if (blocks[i].begin >= at + bytes) break;
        if (blocks[i].end > at) at = blocks[i].end;
    }
    return at;
}

static int below(uint64_t *draw, int n)
{
    return (int)rng_below(11, 1, (*draw)++, n);
}

/* A few long lives and many short ones, a few sizes that fit together and some odd ones. */
static void fill(IntervalIndex *list, Interval *blocks, uint64_t *draw)
{
    for (int n = 0; n < N; n++) {
        const int first = below(draw, TIMES), longest = below(draw, 3) ? 4 : TIMES;
        const int rest = TIMES - first < longest ? TIMES - first : longest;
        const int last = first + below(draw, rest);
        const size_t bytes =
            below(draw, 4) ? (size_t)64 << below(draw, 3) : 1 + (size_t)below(draw, 500);
        const size_t begin = interval_index_lowest_gap(list, bytes, first, last);
        assert_int_equal(begin, plain_lowest_gap(blocks, n, bytes, first, last));
        blocks[n] = (Interval){begin, begin + bytes, first, last};
        interval_index_insert(list, blocks[n]);
    }
}

static void the_lowest_gap_is_found(void **state)
{
    (void)state;
    IntervalIndex list;
    Interval *blocks = calloc(N, sizeof *blocks);
    uint64_t draw = 0;
    assert_non_null(blocks);
    assert_true(interval_index_init(&list, N));
    for (int round = 0; round < 2; round++) {
        interval_index_clear(&list);
        fill(&list, blocks, &draw);
        assert_true(list.n_pages > N / INTERVAL_INDEX_PAGE);
    }
    interval_index_free(&list);
    free(blocks);
}

/* Pages whose blocks all live as long answer as a whole, unless there is a gap within. */
static void gaps_within_a_page_are_found(void **state)
{
    (void)state;
    IntervalIndex list;
    Interval *blocks = calloc(N, sizeof *blocks);
    assert_non_null(blocks);
    assert_true(interval_index_init(&list, N));
    for (int i = 0; i < N; i++) { /* the widest are those between pages */
        const size_t begin = 10000 * (size_t)i;
        const size_t gap = i % 64 == 63 ? N + (size_t)i : 1 + (size_t)(i * 7 % N);
        blocks[i] = (Interval){begin, begin + 10000 - gap, 0, 9};
        interval_index_insert(&list, blocks[i]);
    }
    for (size_t bytes = 1; bytes <= 2 * N; bytes += 7) {
        assert_int_equal(interval_index_lowest_gap(&list, bytes, 3, 5),
                         plain_lowest_gap(blocks, N, bytes, 3, 5));
    }
    interval_index_free(&list);
    free(blocks);
}

static void the_place_of_a_dead_block_is_a_gap(void **state)
{
    (void)state;
    enum { DEAD = N / 2 };
    IntervalIndex list;
    assert_true(interval_index_init(&list, N));
    for (int i = 0; i < N; i++) {
        const size_t begin = 64 * (size_t)i;
        interval_index_insert(&list,
                              (Interval){begin, begin + 64, i == DEAD ? 4 : 0, i == DEAD ? 5 : 9});
    }
    assert_int_equal(interval_index_lowest_gap(&list, 64, 6, 9), 64 * DEAD);
    assert_int_equal(interval_index_lowest_gap(&list, 64, 0, 3), 64 * DEAD);
    assert_int_equal(interval_index_lowest_gap(&list, 64, 5, 9), 64 * N);
    assert_int_equal(interval_index_lowest_gap(&list, 64, 0, 4), 64 * N);
    assert_int_equal(interval_index_lowest_gap(&list, 65, 6, 9), 64 * N);
    interval_index_free(&list);
}

/* Blocks that come by address split the last page again and again: the most pages there can be. */
static void any_order_has_room(void **state)
{
    (void)state;
    for (int rising = 0; rising < 2; rising++) {
        IntervalIndex list;
        assert_true(interval_index_init(&list, N));
        for (int i = 0; i < N; i++) {
            const size_t begin = 64 * (size_t)(rising ? i : N - 1 - i);
            interval_index_insert(&list, (Interval){begin, begin + 64, 0, 0});
        }
        assert_int_equal(interval_index_lowest_gap(&list, 1, 0, 0), 64 * N);
        assert_int_equal(interval_index_lowest_gap(&list, 1, 1, 1), 0);
        interval_index_free(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_gap_is_found),
        cmocka_unit_test(gaps_within_a_page_are_found),
        cmocka_unit_test(the_place_of_a_dead_block_is_a_gap),
        cmocka_unit_test(any_order_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
