#include "base/rng.h"
#include "plan/arena_packing.h"
#include "with_cmocka.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = 400 };

static bool together(const PackingBlock *a, const PackingBlock *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static bool overlap(const PackingBlock *a, const PackingBlock *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static size_t fullest(const PackingBlock *blocks, int n, int n_times)
{
    size_t most = 0;
    for (int t = 0; t < n_times; t++) {
        size_t live = 0;
        for (int i = 0; i < n; i++) {
            if (blocks[i].first <= t && t <= blocks[i].last) live += blocks[i].bytes;
        }
        if (live > most) most = live;
    }
    return most;
}

static void check(const PackingBlock *blocks, int n, int n_times, size_t arena)
{
    size_t end = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(blocks[i].offset % 256, 0);
        if (blocks[i].offset + blocks[i].bytes > end) end = blocks[i].offset + blocks[i].bytes;
        for (int j = 0; j < i; j++) {
            if (together(&blocks[i], &blocks[j])) assert_false(overlap(&blocks[i], &blocks[j]));
        }
    }
    assert_int_equal(end, arena);
    assert_true(arena >= fullest(blocks, n, n_times));
}

static int below(uint64_t *draw, int n)
{
    return (int)rng_below(7, 1, (*draw)++, n);
}

/* Lifetimes of every length, sizes over five orders of magnitude. */
static int random_blocks(PackingBlock *blocks, int n_times, uint64_t *draw)
{
    const int n = 1 + below(draw, MOST);
    for (int i = 0; i < n; i++) {
        const int first = below(draw, n_times);
        const int longest = below(draw, 4) ? 1 + below(draw, 8) : n_times;
        const int rest = n_times - first < longest ? n_times - first : longest;
        const size_t bytes = (size_t)256 << below(draw, 16);
        blocks[i] =
            (PackingBlock){.bytes = bytes, .first = first, .last = first + below(draw, rest)};
    }
    return n;
}

static void test_random(void **state)
{
    (void)state;
    PackingBlock blocks[MOST], again[MOST];
    uint64_t draw = 0;
    for (int round = 0; round < 60; round++) {
        const int n_times = 1 + below(&draw, 200);
        const int n = random_blocks(blocks, n_times, &draw);
        memcpy(again, blocks, sizeof blocks);
        size_t arena = 0, other = 0;
        assert_int_equal(arena_packing_place(blocks, n, n_times, &arena), ST_OK);
        check(blocks, n, n_times, arena);
        assert_int_equal(arena_packing_place(again, n, n_times, &other), ST_OK);
        assert_int_equal(other, arena);
        for (int i = 0; i < n; i++) assert_int_equal(again[i].offset, blocks[i].offset);
    }
}

static void test_few(void **state)
{
    (void)state;
    size_t arena = 1;
    assert_int_equal(arena_packing_place(NULL, 0, 0, &arena), ST_OK);
    assert_int_equal(arena, 0);
    PackingBlock one = {.bytes = 512};
    assert_int_equal(arena_packing_place(&one, 1, 1, &arena), ST_OK);
    assert_int_equal(arena, 512);
    assert_int_equal(one.offset, 0);
}

/* What a step does: kept on the way there, dropped on the way back, with something large in between. A
 * perfect packing exists and must be found. */
static void test_there_and_back(void **state)
{
    (void)state;
    enum { LAYERS = 40, TIMES = 4 * LAYERS };
    PackingBlock blocks[3 * LAYERS];
    int n = 0;
    for (int l = 0; l < LAYERS; l++) {
        const int back = TIMES - 1 - 2 * l;
        blocks[n++] = (PackingBlock){.bytes = 4096, .first = 2 * l, .last = back};
        blocks[n++] = (PackingBlock){.bytes = 1024, .first = 2 * l, .last = 2 * l + 1};
        blocks[n++] = (PackingBlock){.bytes = 8192, .first = back, .last = back};
    }
    size_t arena = 0;
    assert_int_equal(arena_packing_place(blocks, n, TIMES, &arena), ST_OK);
    check(blocks, n, TIMES, arena);
    assert_int_equal(arena, fullest(blocks, n, TIMES));
}

/* Large blocks first leave a hole here; another order finds the perfect packing. */
static void test_other_orders(void **state)
{
    (void)state;
    PackingBlock blocks[] = {
        {.bytes = 768, .first = 2, .last = 4},
        {.bytes = 512, .first = 3, .last = 4},
        {.bytes = 768, .first = 4, .last = 4},
        {.bytes = 1024, .first = 0, .last = 2},
    };
    enum { N = sizeof blocks / sizeof *blocks };
    size_t arena = 0;
    assert_int_equal(arena_packing_place(blocks, N, 5, &arena), ST_OK);
    check(blocks, N, 5, arena);
    assert_int_equal(arena, fullest(blocks, N, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_other_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
