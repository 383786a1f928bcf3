/* Exact while few, fixed in memory when many. */
#include "base/stats.h"
#include "prof/running_stats.h"
#include "with_cmocka.h"

#include <math.h>

static void test_few(void **state)
{
    (void)state;
    const double values[] = {3, 1, 4, 1, 5, 9, 2, 6};
    enum { N = sizeof values / sizeof *values };
    RunningStats t = {0};
    assert_true(isnan(running_stats_quantile(&t, 0.5)));
    for (int i = 0; i < N; i++) running_stats_add(&t, values[i]);
    assert_int_equal(t.n, N);
    assert_true(t.sum == 31 && t.min == 1 && t.max == 9);
    assert_true(running_stats_quantile(&t, 0.5) == stats_median(values, N));
    assert_true(fabs(running_stats_std(&t) - stats_std(values, N)) < 1e-12);
    t = (RunningStats){0};
    running_stats_add(&t, 7);
    assert_true(t.min == 7 && t.max == 7 && running_stats_std(&t) == 0);
}

/* 0, 1, ..., 99999: the sums are exact, the median of the sample is near, and the same again. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 100000 };
    double median[2];
    for (int round = 0; round < 2; round++) {
        RunningStats t = {0};
        for (int i = 0; i < N; i++) running_stats_add(&t, i);
        assert_true(t.sum == (double)N * (N - 1) / 2 && t.min == 0 && t.max == N - 1);
        assert_true(fabs(running_stats_std(&t) / (N / sqrt(12)) - 1) < 1e-4);
        median[round] = running_stats_quantile(&t, 0.5);
        /* six standard deviations of the median of RUNNING_STATS_RESERVOIR */
        assert_true(fabs(median[round] - N / 2.0) < 6 * N / (2 * sqrt(RUNNING_STATS_RESERVOIR)));
        assert_true(running_stats_quantile(&t, 0.99) > 0.9 * N);
    }
    assert_true(median[0] == median[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
