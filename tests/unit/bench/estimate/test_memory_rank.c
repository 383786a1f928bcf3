/* What a rank holds: places that are used twice count once, and one row stands for ranks that are alike. */
#include "base/array.h"
#include "base/json_text.h"
#include "bench/estimate/memory_rank.h"
#include "with_cmocka.h"

#include <math.h>

static size_t written(const MemoryBlocks *blocks, int node)
{
    size_t bytes = 0;
    assert_int_equal(memory_rank_written(blocks, node, &bytes), ST_OK);
    return bytes;
}

static void test_written(void **state)
{
    (void)state;
    MemoryBlock list[] = {
        {.bytes = 100, .address = 0, .persistent = true, .producer = PLAN_NONE},
        {.bytes = 50, .address = 100, .persistent = true, .producer = 0, .usage = MEMORY_MOMENT},
        {.bytes = 30, .address = 150, .persistent = true, .producer = 4}, /* as a 16-bit copy */
        {.bytes = 40, .address = 200, .first = 2, .last = 5, .producer = 2},
        {.bytes = 60, .address = 220, .first = 6, .last = 7, .producer = 6}, /* partly used again */
        {.bytes = 10, .address = 210, .first = 6, .last = 7, .producer = 6}, /* all of it */
        {.bytes = 20, .address = 300, .first = 8, .last = 8, .producer = 8}, /* after a gap */
    };
    const MemoryBlocks blocks = {.blocks = list, .n = sizeof list / sizeof *list};
    assert_int_equal(written(&blocks, 0), 150);
    assert_int_equal(written(&blocks, 3), 190);
    assert_int_equal(written(&blocks, 5), 220);
    assert_int_equal(written(&blocks, 7), 260);
    assert_int_equal(written(&blocks, 9), 280);
    assert_int_equal(written(&(MemoryBlocks){.blocks = list}, 9), 0);
}

static MemoryRank rank(double planned, double measured)
{
    MemoryRank r;
    for (int m = 0; m < MEMORY_RANK_MOMENTS; m++) {
        for (int f = 0; f < MEMORY_RANK_FIGURES; f++) r.mib[m][f] = NAN;
    }
    r.mib[MEMORY_RANK_PEAK][MEMORY_RANK_planned] = planned;
    r.mib[MEMORY_RANK_PEAK][MEMORY_RANK_measured] = measured;
    return r;
}

static void test_alike(void **state)
{
    (void)state;
    MemoryRank same[] = {rank(100, 100), rank(100, 100.4)};
    MemoryRank planned[] = {rank(100, 100), rank(101, 100)};
    MemoryRank measured[] = {rank(1000, 1000), rank(1000, 1010)};
    MemoryRank missing[] = {rank(100, 100), rank(100, NAN)};
    MemoryRank small[] = {rank(1, 1), rank(1, 2.9)}; /* a huge page */
    assert_true(memory_rank_alike(&(MemoryRanks){same, 2}));
    assert_true(memory_rank_alike(&(MemoryRanks){small, 2}));
    assert_false(memory_rank_alike(&(MemoryRanks){planned, 2}));
    assert_false(memory_rank_alike(&(MemoryRanks){measured, 2}));
    assert_false(memory_rank_alike(&(MemoryRanks){missing, 2}));
    const MemoryRank most = memory_rank_largest(&(MemoryRanks){same, 2});
    assert_true(most.mib[MEMORY_RANK_PEAK][MEMORY_RANK_measured] == 100.4);
    assert_true(isnan(most.mib[MEMORY_RANK_BEFORE][MEMORY_RANK_alive]));
}

static void test_json(void **state)
{
    (void)state;
    const MemoryRank one = rank(12.5, 13);
    MemoryRanks read = {0};
    CLEANUP(json_text_free)
    json_t *record = json_pack("{s:[o]}", "memory_ranks", memory_rank_json(&one));
    assert_int_equal(memory_rank_read(&read, record), ST_OK);
    assert_int_equal(read.n, 1);
    assert_true(memory_rank_alike(&(MemoryRanks){(MemoryRank[]){one, read.list[0]}, 2}));
    array_free(&read.list);
    assert_int_equal(memory_rank_read(&read, NULL), ST_OK);
    assert_int_equal(read.n, 0);
    array_free(&read.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
