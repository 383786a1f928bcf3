#include "base/rank_test.h"
#include "base/rng.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void close_to(double got, double want, double relative)
{
    if (fabs(got - want) <= relative * fabs(want)) return;
    print_error("%.17g is not %.17g\n", got, want);
    fail();
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void sort(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
}

static double slow_u(const double *a, int na, const double *b, int nb)
{
    double u = 0;
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) u += a[i] < b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    }
    return u;
}

/* Every way to call na of the na + nb samples a's: how many are at least as far from the middle. */
static double slow_p(const double *all, int na, int nb, double u)
{
    const int n = na + nb;
    const double middle = na * nb / 2.0;
    double far = 0, ways = 0;
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        double a[16], b[16];
        int i = 0, j = 0;
        if (__builtin_popcount(mask) != na) continue;
        for (int k = 0; k < n; k++) {
            if (mask >> k & 1)
                a[i++] = all[k];
            else
                b[j++] = all[k];
        }
        ways++;
        far += fabs(slow_u(a, na, b, nb) - middle) >= fabs(u - middle);
    }
    return far / ways;
}

/* Samples that take `steps` values: with few of them most are equal. */
static void check_all_permutations(double steps)
{
    for (int na = 1; na <= 6; na++) {
        for (int nb = 1; nb <= 6; nb++) {
            double all[12], a[6], b[6];
            for (int k = 0; k < na + nb; k++)
                all[k] = 1 + floor(steps * rng_uniform(7, (uint64_t)(na * 8 + nb), (uint64_t)k));
            memcpy(a, all, (size_t)na * sizeof *a);
            memcpy(b, all + na, (size_t)nb * sizeof *b);
            sort(a, na);
            sort(b, nb);
            const RankTest test = rank_test_mann_whitney(a, na, b, nb);
            assert_true(test.exact);
            assert_true(test.u == slow_u(a, na, b, nb));
            close_to(test.p, slow_p(all, na, nb, test.u), 1e-14);
        }
    }
}

static void exact_as_all_permutations(void **state)
{
    (void)state;
    check_all_permutations(1e12);
    check_all_permutations(7);
    check_all_permutations(2);
}

/* By hand: U of samples that do not overlap is 0, and only one order of C(n+m, n) is as extreme. */
static void exact_by_hand(void **state)
{
    (void)state;
    double x[40];
    for (int i = 0; i < 40; i++) x[i] = 1 + i;
    close_to(rank_test_mann_whitney(x, 3, x + 3, 3).p, 2 / 20.0, 1e-15);
    close_to(rank_test_mann_whitney(x, 4, x + 4, 4).p, 2 / 70.0, 1e-15);
    close_to(rank_test_mann_whitney(x, 10, x + 10, 10).p, 2 / 184756.0, 1e-15);
    close_to(rank_test_mann_whitney(x, 20, x + 20, 20).p, 2 / 137846528820.0, 1e-15);
    close_to(rank_test_mann_whitney(x + 20, 20, x, 20).p, 2 / 137846528820.0, 1e-15);
    assert_true(rank_test_mann_whitney(x, 1, x + 1, 1).p == 1);
    const double ones[] = {1, 1, 1}, twos[] = {2, 2, 2}, same[] = {3, 3, 3, 3};
    close_to(rank_test_mann_whitney(ones, 3, twos, 3).p, 2 / 20.0, 1e-15);
    assert_true(rank_test_mann_whitney(same, 4, same, 4).p == 1);
}

/* Samples too many for the exact distribution, and ties among them: the formula with its terms worked out, as
 * scipy.stats.mannwhitneyu(method="asymptotic") and R's wilcox.test(exact = FALSE) have it. */
static void normal_with_ties(void **state)
{
    (void)state;
    double a[30], b[30], many[50];
    for (int i = 0; i < 30; i++) a[i] = 1 + i / 10, b[i] = 2 + i / 10;
    const RankTest test = rank_test_mann_whitney(a, 30, b, 30);
    assert_false(test.exact);
    assert_true(test.u == slow_u(a, 30, b, 30));
    /* Ten 1, twenty 2, twenty 3, ten 4: ties = 2 * 990 + 2 * 7980; variance = 900/12 (61 - 17940/3540) */
    assert_true(test.u == 700);
    close_to(test.p, erfc(249.5 / sqrt(2 * 900.0 / 12 * (61 - 17940.0 / 3540))), 1e-14);
    for (int i = 0; i < 50; i++) many[i] = 1 + i;
    close_to(rank_test_mann_whitney(many, 25, many + 25, 25).p,
             erfc(312 / sqrt(2 * 625.0 / 12 * 51)), 1e-14);
}

static void interval_as_sorted_ratios(void **state)
{
    (void)state;
    for (int n = 1; n <= 24; n++) {
        double a[24], b[26], ratios[24 * 26];
        const int m = n + 2;
        for (int i = 0; i < n; i++) a[i] = 1 + rng_uniform(1, (uint64_t)n, (uint64_t)i);
        for (int i = 0; i < m; i++) b[i] = 1 + rng_uniform(2, (uint64_t)n, (uint64_t)i);
        for (int i = 0; i < n * m; i++) ratios[i] = b[i % m] / a[i / m];
        sort(a, n);
        sort(b, m);
        sort(ratios, n * m);
        const RankRatio r = rank_test_ratio(a, n, b, m);
        close_to(r.ratio, sqrt(ratios[(n * m - 1) / 2] * ratios[n * m / 2]), 1e-14);
        if (n < 3) assert_true(isnan(r.low) && isnan(r.high)); /* 2 / C(6, 2) is above 5 % */
        if (n < 3) continue;
        int low = 0, high = 0;
        while (ratios[low] < r.low) low++;
        while (ratios[high] < r.high) high++;
        assert_true(ratios[low] == r.low && ratios[high] == r.high);
        assert_int_equal(low, n * m - 1 - high);
        /* 24 and 26 samples: k = floor(312 + 0.5 - 1.96 sqrt(624 * 51 / 12)) = 211. */
        if (n == 24) assert_int_equal(low, 210);
    }
}

/* k of printed tables (Hollander and Wolfe; R's qwilcox(0.025, n, n)): the interval starts at the k-th
 * ratio. With b = 1 the sorted ratios are those of a. */
static void interval_of_printed_tables(void **state)
{
    (void)state;
    static const struct {
        int n, k;
    } known[] = {{4, 1}, {5, 3}, {6, 6}, {7, 9}, {8, 14}, {9, 18}, {10, 24}, {15, 65}, {20, 128}};
    for (int c = 0; c < COUNT(known); c++) {
        const int n = known[c].n;
        double a[20], b[20], ratios[400];
        for (int i = 0; i < n; i++) a[i] = exp(0.001 * i), b[i] = exp(0.0313 * i);
        for (int i = 0; i < n * n; i++) ratios[i] = b[i % n] / a[i / n];
        sort(ratios, n * n);
        const RankRatio r = rank_test_ratio(a, n, b, n);
        close_to(r.low, ratios[known[c].k - 1], 0);
        close_to(r.high, ratios[n * n - known[c].k], 0);
    }
}

static void draw(double *x, int n, uint64_t stream, double scale, double noise)
{
    float normal[64];
    rng_truncated_normal(normal, n, 11, stream, 0, noise);
    for (int i = 0; i < n; i++) x[i] = scale * (1 + (double)normal[i]);
    sort(x, n);
}

static void swapping_mirrors(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        double a[30], b[30];
        const int na = 4 + (int)(seed % 25), nb = 4 + (int)(seed / 8);
        draw(a, na, 2 * seed, 100, 0.02);
        draw(b, nb, 2 * seed + 1, 101, 0.02);
        if (seed % 3 == 0) b[0] = a[0], sort(b, nb);
        const RankTest ab = rank_test_mann_whitney(a, na, b, nb);
        const RankTest ba = rank_test_mann_whitney(b, nb, a, na);
        const RankRatio up = rank_test_ratio(a, na, b, nb), down = rank_test_ratio(b, nb, a, na);
        assert_true(ab.u + ba.u == na * nb && ab.exact == ba.exact);
        close_to(ab.p, ba.p, 1e-12);
        close_to(up.ratio * down.ratio, 1, 1e-14);
        close_to(up.low * down.high, 1, 1e-14);
        close_to(up.high * down.low, 1, 1e-14);
        /* The interval and the test say the same where there are no ties. */
        if (seed % 3) assert_true((ab.p <= 0.05) == (up.low > 1 || up.high < 1));
    }
}

/* 2,000 pairs without a difference: at most 6.5 % refused, and the interval holds the truth as often. */
static void false_alarms_are_rare(void **state)
{
    (void)state;
    int refused = 0, outside = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        double a[10], b[10];
        draw(a, 10, 1000 + 2 * seed, 100, 0.01);
        draw(b, 10, 1001 + 2 * seed, 100, 0.01);
        const RankRatio r = rank_test_ratio(a, 10, b, 10);
        refused += rank_test_mann_whitney(a, 10, b, 10).p <= 0.05;
        outside += r.low > 1 || r.high < 1;
    }
    assert_in_range(refused, 40, 130);
    assert_int_equal(outside, refused);
}

static void nothing_of_nothing(void **state)
{
    (void)state;
    const double x[] = {1};
    assert_true(isnan(rank_test_mann_whitney(x, 0, x, 1).p));
    assert_true(isnan(rank_test_ratio(x, 1, x, 0).ratio));
    assert_true(rank_test_ratio(x, 1, x, 1).ratio == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_as_all_permutations),  cmocka_unit_test(exact_by_hand),
        cmocka_unit_test(normal_with_ties),           cmocka_unit_test(interval_as_sorted_ratios),
        cmocka_unit_test(interval_of_printed_tables), cmocka_unit_test(swapping_mirrors),
        cmocka_unit_test(false_alarms_are_rare),      cmocka_unit_test(nothing_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
