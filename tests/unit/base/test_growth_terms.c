/* Exact figures: a + b n + c n^2 found from a few points, and where there is no such thing. */
#include "base/growth_terms.h"
#include "with_cmocka.h"

#include <math.h>

#define assert_near(x, expected, tolerance) assert_true(fabs((x) - (expected)) <= (tolerance))

/* The n are 256, 512, 1024, ... */
static GrowthTerms terms_of(double a, double b, double c, int n)
{
    GrowthPoint points[8];
    for (int i = 0; i < n; i++) {
        const double x = 256 * pow(2, i);
        points[n - 1 - i] = (GrowthPoint){x, a + b * x + c * x * x, 0};
    }
    return growth_terms(points, n);
}

static void check(GrowthTerms t, int degree, double a, double b, double c)
{
    assert_int_equal(t.degree, degree);
    assert_near(t.term[0], a, 1e-9 * (fabs(a) + 1));
    assert_near(t.term[1], b, 1e-9 * fabs(b) + 1e-15);
    assert_near(t.term[2], c, 1e-9 * fabs(c) + 1e-18);
}

static void test_degrees(void **state)
{
    (void)state;
    check(terms_of(12.3, 0.031, 0, 3), 1, 12.3, 0.031, 0);
    check(terms_of(12.3, 0.031, 0, 7), 1, 12.3, 0.031, 0);
    check(terms_of(0, 0.0078, 0, 5), 1, 0, 0.0078, 0);
    check(terms_of(1, 0.0078, 6.1e-5, 4), 2, 1, 0.0078, 6.1e-5);
    check(terms_of(0, 0.0078, 6.1e-5, 6), 2, 0, 0.0078, 6.1e-5);
    check(terms_of(42, 0, 0, 4), 0, 42, 0, 0);
    assert_int_equal(terms_of(12.3, 0.031, 0, 2).degree, -1);
}

static void test_where_they_hold(void **state)
{
    (void)state;
    const GrowthTerms all = terms_of(12.3, 0.031, 0, 5);
    assert_int_equal(all.points, 5);
    assert_true(all.from == 256 && all.to == 4096);
    /* 33 MiB of workspace until the rest is larger */
    GrowthPoint points[7];
    for (int i = 0; i < 7; i++) {
        const double n = 64 * pow(2, i);
        points[i] = (GrowthPoint){n, fmax(33 + 0.001 * n, 2 + 0.1 * n), 0};
    }
    const GrowthTerms upper = growth_terms(points, 7);
    assert_int_equal(upper.degree, 1);
    assert_near(upper.term[1], 0.1, 1e-9);
    assert_int_equal(upper.points, 4);
    assert_true(upper.from == 512 && upper.to == 4096);
    assert_int_equal(growth_terms(points, 6).degree, -1); /* half of them are no law */
}

/* Nothing is left to check three terms by: `points` says so. */
static void test_three_points(void **state)
{
    (void)state;
    const GrowthTerms t = terms_of(1, 0.0078, 6.1e-5, 3);
    check(t, 2, 1, 0.0078, 6.1e-5);
    assert_int_equal(t.points, 3);
}

static void test_none(void **state)
{
    (void)state;
    GrowthPoint points[6];
    for (int i = 0; i < 6; i++) points[i] = (GrowthPoint){pow(2, i), pow(2, 1.5 * i), 0};
    assert_int_equal(growth_terms(points, 6).degree, -1);
    /* much that is constant hides no curve: 0.01 % of 1000 is all that sqrt(n) adds */
    for (int i = 0; i < 6; i++)
        points[i] = (GrowthPoint){pow(2, i), 1000 + 0.05 * sqrt(pow(2, i)), 0};
    assert_int_not_equal(growth_terms(points, 6).degree, 1);
    assert_int_not_equal(growth_terms(points, 6).degree, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degrees),
        cmocka_unit_test(test_where_they_hold),
        cmocka_unit_test(test_three_points),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
