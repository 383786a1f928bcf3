/* Which ranks have the same GPU. */
#include "bench/cell/rank_device.h"
#include "with_cmocka.h"

static void test_numbers(void **state)
{
    (void)state;
    const double one = rank_device_number("a", "0000:01:00.0");
    assert_true(one == rank_device_number("a", "0000:01:00.0"));
    assert_true(one != rank_device_number("a", "0000:02:00.0"));
    assert_true(one != rank_device_number("b", "0000:01:00.0"));
    assert_true(rank_device_number("a", "b") != rank_device_number("ab", ""));
    assert_true(one > 0 && one <= 0x1p53);
}

static void test_sharers(void **state)
{
    (void)state;
    const double of_ranks[] = {7, 8, 7, 9, 7};
    assert_int_equal(rank_device_sharers(of_ranks, 5, 0), 3);
    assert_int_equal(rank_device_sharers(of_ranks, 5, 1), 1);
    assert_int_equal(rank_device_sharers(of_ranks, 5, 4), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_sharers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
