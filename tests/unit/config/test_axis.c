#include "config/sweep.h"
#include "with_cmocka.h"

/* --bytes: lists and ranges with units. */
static void sizes_have_units(void **state)
{
    (void)state;
    static const int64_t want[] = {12, 1000, 4000, 16000, 1024, 2048, 3072};
    static const char *const bad[] = {"1KB-4KB*2KB", "0", "1XB", "4GB-1KB"};
    Axis axis = {0};
    assert_int_equal(axis_read(&axis, OPTION_BYTES, "12,1KB-20KB*4,1KiB-3KiB+1KiB"), ST_OK);
    assert_int_equal(axis.n, 7);
    for (int i = 0; i < 7; i++) assert_int_equal(axis.values[i].number, want[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(axis_read(&axis, OPTION_BYTES, bad[i]), ST_USAGE);
    axis_free(&axis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_have_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
