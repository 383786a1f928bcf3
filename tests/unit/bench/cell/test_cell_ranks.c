/* What is said about a step that several ranks share. */
#include "bench/cell/cell_ranks.h"
#include "with_cmocka.h"

static void test_exposes(void **state)
{
    (void)state;
    assert_true(cell_ranks_exposes(PARALLEL_DDP, 1, 0.4, 0.31));
    assert_true(cell_ranks_exposes(PARALLEL_ZERO1, 1, 0.4, 0.5));
    assert_false(cell_ranks_exposes(PARALLEL_DDP, 1, 0.4, 0.29));     /* a quarter is hidden */
    assert_false(cell_ranks_exposes(PARALLEL_DDP, 1, 0.04, 0.04));    /* of next to nothing */
    assert_false(cell_ranks_exposes(PARALLEL_DDP, 1, 0, 0.1));        /* nothing is sent: noise */
    assert_false(cell_ranks_exposes(PARALLEL_DDP_FLAT, 1, 0.4, 0.4)); /* as it is meant to be */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exposes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
