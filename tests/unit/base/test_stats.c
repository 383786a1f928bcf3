#include "base/stats.h"
#include "with_cmocka.h"

#include <math.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void close_to(double got, double want, double relative)
{
    if (fabs(got - want) <= relative * fabs(want)) return;
    print_error("%.17g is not %.17g\n", got, want);
    fail();
}

static void summary_of_known_samples(void **state)
{
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    const StatsSummary s = stats_summary(x, COUNT(x));
    assert_int_equal(s.n, 8);
    close_to(s.mean, 5, 1e-15);
    close_to(s.std, sqrt(32.0 / 7), 1e-15);
    close_to(s.min, 2, 0);
    close_to(s.max, 9, 0);
    close_to(s.median, 4.5, 0);
    close_to(s.mad, 0.5, 0);
    close_to(s.ci95_high - s.mean, 2.36462425159278 * sqrt(32.0 / 7 / 8), 1e-12);
    close_to(s.mean - s.ci95_low, s.ci95_high - s.mean, 1e-12);
}

/* The chance that the interval misses the median: 2 P(at most k - 1 of n are below it), summed in
 * long double. */
static double misses(int n, int k)
{
    long double chance = ldexpl(1, -n), sum = 0;
    for (int i = 0; i < k; i++) {
        sum += chance;
        chance *= (long double)(n - i) / (i + 1);
    }
    return (double)(2 * sum);
}

static void median_has_an_interval_from_6_samples_on(void **state)
{
    (void)state;
    static const struct {
        int n, k;
    } known[] = {{0, 0}, {1, 0}, {5, 0}, {6, 1}, {8, 1}, {9, 2}, {15, 4}, {20, 6}, {100, 40}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(stats_median_rank(known[i].n), known[i].k);
    for (int n = 6; n <= 3000; n++) {
        const int k = stats_median_rank(n);
        /* beyond 1000 samples the approximation may take a rank more or less */
        assert_true(misses(n, k) <= (n <= 1000 ? 0.05 : 0.0505));
        assert_true(misses(n, k + 1) > (n <= 1000 ? 0.05 : 0.0495));
    }
    const double x[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};
    double low, high;
    stats_median_interval(x, 9, &low, &high);
    assert_true(low == 2 && high == 8);
    stats_median_interval(x, 5, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

static void order_does_not_matter(void **state)
{
    (void)state;
    const double x[] = {5, -1e300, 0.25, -0.0, 1e-300, 7, 5, -3};
    const double sorted[] = {-1e300, -3, -0.0, 1e-300, 0.25, 5, 5, 7};
    for (int i = 0; i < COUNT(x); i++)
        assert_true(stats_quantile(x, COUNT(x), i / 7.0) == sorted[i]);
    const double odd[] = {3, 1, 2};
    close_to(stats_median(odd, 3), 2, 0);
    close_to(stats_mad(odd, 3), 1, 0);
}

static void quantiles_lie_between(void **state)
{
    (void)state;
    const double x[] = {10, 30, 20, 40};
    close_to(stats_quantile(x, 4, 0), 10, 0);
    close_to(stats_quantile(x, 4, 1), 40, 0);
    close_to(stats_quantile(x, 4, 0.5), 25, 1e-15);
    close_to(stats_quantile(x, 4, 0.25), 17.5, 1e-15);
    close_to(stats_quantile(x, 4, 0.95), 38.5, 1e-14);
}

static void one_sample_has_no_spread(void **state)
{
    (void)state;
    const double x[] = {3};
    const StatsSummary s = stats_summary(x, 1);
    assert_true(s.mean == 3 && s.min == 3 && s.max == 3 && s.median == 3 && s.mad == 0);
    assert_true(isnan(s.std) && isnan(s.ci95_low) && isnan(s.ci95_high));
    assert_false(stats_first_is_slow(x, 1));
}

static void no_sample_has_nothing(void **state)
{
    (void)state;
    const double x[] = {0};
    const StatsSummary s = stats_summary(x, 0);
    assert_true(isnan(s.mean) && isnan(s.std) && isnan(s.min) && isnan(s.max));
    assert_true(isnan(s.median) && isnan(s.mad) && isnan(s.ci95_low));
}

static void t_agrees_with_the_tables(void **state)
{
    (void)state;
    static const struct {
        int dof;
        double t;
    } table[] = {
#define T(dof, t) {dof, t},
#include "t_quantiles.def"
    };
    assert_int_equal(COUNT(table), 199);
    for (int i = 0; i < COUNT(table); i++) {
        close_to(stats_t_quantile(0.975, table[i].dof), table[i].t, 1e-12);
        close_to(stats_t_quantile(0.025, table[i].dof), -table[i].t, 1e-11);
    }
    close_to(stats_t_quantile(0.95, 5), 2.01504837333302, 1e-12);
    close_to(stats_t_quantile(0.995, 10), 3.16927267261695, 1e-12);
    close_to(stats_t_quantile(0.975, 100000), 1.95998770753461, 1e-12);
    assert_true(fabs(stats_t_quantile(0.5, 7)) < 1e-15);
    assert_true(isnan(stats_t_quantile(0, 3)) && isnan(stats_t_quantile(1, 3)));
    assert_true(isnan(stats_t_quantile(0.9, 0)));
}

static void a_slow_first_sample_is_told(void **state)
{
    (void)state;
    const double steady[] = {100, 101, 99, 100.5, 99.5, 102, 98, 100};
    const double slow_first[] = {200, 101, 99, 100.5, 99.5, 102, 98, 100};
    const double slow_later[] = {100, 101, 99, 100.5, 99.5, 102, 200, 20};
    const double fast_first[] = {20, 101, 99, 100.5, 99.5, 102, 98, 100};
    assert_true(stats_first_is_slow(slow_first, 8));
    assert_false(stats_first_is_slow(steady, 8));
    assert_false(stats_first_is_slow(slow_later, 8));
    assert_false(stats_first_is_slow(fast_first, 8));
    /* 14.826 MADs from the median, on either side of the bound */
    double x[] = {10 + 14.8, 9, 10, 11, 10, 9, 11};
    assert_false(stats_first_is_slow(x, COUNT(x)));
    x[0] = 10 + 14.85;
    assert_true(stats_first_is_slow(x, COUNT(x)));
    const double equal[] = {9, 1, 1, 1, 1, 1};
    assert_true(stats_first_is_slow(equal, COUNT(equal)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_known_samples),
        cmocka_unit_test(median_has_an_interval_from_6_samples_on),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(quantiles_lie_between),
        cmocka_unit_test(one_sample_has_no_spread),
        cmocka_unit_test(no_sample_has_nothing),
        cmocka_unit_test(t_agrees_with_the_tables),
        cmocka_unit_test(a_slow_first_sample_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
