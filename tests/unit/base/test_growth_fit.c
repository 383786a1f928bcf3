/* Sweeps made up of a + b n^k with noise: the exponent, where it begins, what the intervals hold. */
#include "base/growth_fit.h"
#include "base/rng.h"
#include "base/stats.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>

#define assert_near(x, expected, tolerance) assert_true(fabs((x) - (expected)) <= (tolerance))

static uint64_t drawn;

static double uniform(void)
{
    return (rng_uniform(30, 5, drawn++) + 1e-12) / (1 + 1e-12);
}

/* Box and Muller. */
static double normal(void)
{
    const double r = sqrt(-2 * log(uniform()));
    return r * cos(2 * M_PI * uniform());
}

typedef struct Truth {
    double floor, factor, exponent; /* at n = 1 */
    double first, ratio;            /* n: first, first ratio, ... */
    int points;
    double noise; /* of a point, as a share of it */
} Truth;

static double law(const Truth *t, double n)
{
    return t->floor + t->factor * pow(n, t->exponent);
}

static void draw(const Truth *t, GrowthPoint *points)
{
    for (int i = 0; i < t->points; i++) {
        const double n = t->first * pow(t->ratio, i);
        points[i] = (GrowthPoint){n, law(t, n) * exp(t->noise * normal()), 0};
    }
}

/* ---- without noise ---- */

static void test_exact(void **state)
{
    (void)state;
    const double exponents[] = {0.5, 1, 1.98, 3};
    for (int e = 0; e < 4; e++) {
        /* the floor is as large as the rest at n = 1024 */
        const double factor = 2e-2 / pow(1024, exponents[e]);
        const Truth truth = {2e-2, factor, exponents[e], 128, 2, 8, 0};
        GrowthPoint points[8];
        draw(&truth, points);
        const GrowthFit fit = growth_fit_law(points, 8);
        assert_int_equal(fit.verdict, GROWTH_LAW);
        assert_near(fit.exponent, exponents[e], 2e-4);
        assert_near(fit.floor, 2e-2, 2e-4);
        assert_near(fit.factor, factor, 3e-3 * factor);
        assert_true(fit.floor_seen);
        assert_int_equal(fit.points, 8);
        /* n = 1024 itself may fall on either side of the rounding */
        assert_true(fit.begins == 1024 || fit.begins == 2048);
        assert_int_equal(fit.beyond, fit.begins == 1024 ? 5 : 4);
    }
}

static void test_order_and_repeats(void **state)
{
    (void)state;
    const Truth truth = {0, 3, 2, 10, 2, 5, 0.02};
    GrowthPoint a[5], b[5];
    draw(&truth, a);
    for (int i = 0; i < 5; i++) b[i] = a[4 - i];
    const GrowthFit x = growth_fit_law(a, 5), y = growth_fit_law(b, 5);
    assert_near(x.exponent, y.exponent, 1e-9);
    assert_near(x.high, y.high, 1e-6);
    b[0].n = b[1].n; /* four different ones */
    assert_int_equal(growth_fit_law(b, 5).points, 4);
    b[2].n = b[1].n;
    assert_int_equal(growth_fit_law(b, 5).verdict, GROWTH_FEW_POINTS);
}

/* ---- where nothing is claimed ---- */

static void test_few_points(void **state)
{
    (void)state;
    const Truth truth = {0, 1, 2, 1, 2, 3, 0.01};
    GrowthPoint points[3];
    draw(&truth, points);
    const GrowthFit fit = growth_fit_law(points, 3);
    assert_int_equal(fit.verdict, GROWTH_FEW_POINTS);
    assert_int_equal(fit.points, 3);
    assert_true(isnan(fit.exponent));
    assert_int_equal(growth_fit_law(points, 0).verdict, GROWTH_FEW_POINTS);
}

static void test_constant(void **state)
{
    (void)state;
    const double noises[] = {0, 0.002, 0.02};
    for (int k = 0; k < 3; k++) {
        const Truth truth = {5, 0, 1, 64, 2, 6, noises[k]};
        GrowthPoint points[6];
        int claims = 0, flat = 0;
        for (int i = 0; i < 100; i++) {
            draw(&truth, points);
            const GrowthVerdict verdict = growth_fit_law(points, 6).verdict;
            claims += verdict == GROWTH_LAW;
            flat += verdict == GROWTH_FLAT;
        }
        assert_true(claims <= 5); /* the others are called all floor */
        assert_true(flat > 70);
    }
}

static void test_all_floor(void **state)
{
    (void)state;
    const Truth truth = {20, 1, 2, 1, 2, 4, 0.005}; /* 1, 4, 16, 64: one is beyond it */
    GrowthPoint points[4];
    draw(&truth, points);
    const GrowthFit fit = growth_fit_law(points, 4);
    assert_int_equal(fit.verdict, GROWTH_MOSTLY_FLOOR);
    assert_int_equal(fit.beyond, 1);
    assert_true(fit.floor_seen);
    assert_near(fit.floor, 20, 1);
}

/* From n to n^3 over the sweep. */
static void test_bent(void **state)
{
    (void)state;
    GrowthPoint points[8];
    int bent = 0;
    for (int t = 0; t < 50; t++) {
        for (int i = 0; i < 8; i++) {
            const double n = pow(2, i);
            points[i] = (GrowthPoint){n, (n + 1e-3 * n * n * n) * exp(0.005 * normal()), 0};
        }
        const GrowthFit fit = growth_fit_law(points, 8);
        bent += fit.verdict == GROWTH_BENT;
        assert_near(fit.local_low, 1, 0.05);
        assert_near(fit.local_high, 2.8, 0.2);
    }
    assert_true(bent >= 48);
    /* and a cliff: three times as slow from the fifth on */
    for (int i = 0; i < 8; i++)
        points[i] = (GrowthPoint){pow(2, i), pow(2, i) * (i < 4 ? 1 : 3), 0};
    assert_int_equal(growth_fit_law(points, 8).verdict, GROWTH_BENT);
}

/* ---- how often intervals hold the exponent ---- */

typedef struct RunningStats {
    int fits, held, claimed, claimed_held, begins_right, begins;
} RunningStats;

static void tally_one(RunningStats *tally, const Truth *t, const GrowthPoint *points)
{
    const GrowthFit fit = growth_fit_law(points, t->points);
    const bool held = fit.low <= t->exponent && t->exponent <= fit.high;
    const bool claimed = fit.verdict == GROWTH_LAW;
    tally->fits++;
    tally->held += held;
    tally->claimed += claimed;
    tally->claimed_held += claimed && held;
    if (!claimed || !fit.floor_seen) return;
    /* beyond the floor in truth, to one point */
    tally->begins++;
    const double begin = pow(t->floor / t->factor, 1 / t->exponent);
    tally->begins_right +=
        fit.begins >= begin / t->ratio && fit.begins <= begin * t->ratio * t->ratio;
}

static void simulate(RunningStats *tally, double noise, int points, int trials)
{
    static const double floors[] = {0, 0.3, 3, 20}; /* of the first point's b n^k */
    for (int k = 1; k <= 2; k++) {
        for (int f = 0; f < 4; f++) {
            const Truth truth = {floors[f], pow(128, -k), k, 128, 2, points, noise};
            GrowthPoint list[9];
            for (int i = 0; i < trials; i++) {
                draw(&truth, list);
                tally_one(tally, &truth, list);
            }
        }
    }
}

static double held_percent(const RunningStats *t)
{
    return 100.0 * t->held / t->fits;
}

/* 1,872 sweeps in all. Where 95 % hold the exponent, fewer than 93 or more than 97 % of so many do
 * by chance less than once in 10,000 such tests. ROOFSTEP_GROWTH_TRIALS=600 makes 86,400 sweeps,
 * and holds each noise and number of points to 93 to 97 %: 94.97 % of all, 94.93 % of those that
 * claim an exponent, and 94.4 to 95.6 % of the 4,800 with each noise and number of points. */
static void test_coverage(void **state)
{
    (void)state;
    const char *asked = getenv("ROOFSTEP_GROWTH_TRIALS");
    const int trials = asked ? atoi(asked) : 13;
    const double noises[] = {0.005, 0.02, 0.05};
    RunningStats all = {0};
    for (int i = 0; i < 3; i++) {
        for (int points = 4; points <= 9; points++) {
            RunningStats one = {0};
            simulate(&one, noises[i], points, trials);
            if (asked) {
                print_message("noise %.1f %%, %d points: %.2f %% of %d\n", 100 * noises[i], points,
                              held_percent(&one), one.fits);
                assert_true(held_percent(&one) > 93 && held_percent(&one) < 97);
            }
            all.fits += one.fits, all.held += one.held;
            all.claimed += one.claimed, all.claimed_held += one.claimed_held;
            all.begins += one.begins, all.begins_right += one.begins_right;
        }
    }
    const double claims = 100.0 * all.claimed_held / all.claimed;
    print_message("%.2f %% of %d, %.2f %% of %d that claim an exponent\n", held_percent(&all),
                  all.fits, claims, all.claimed);
    assert_true(held_percent(&all) > 93 && held_percent(&all) < 97);
    assert_true(claims > 93 && claims < 97);
    assert_true(all.begins_right > 0.97 * all.begins);
    assert_true(all.claimed > 0.8 * all.fits);
}

/* Points that are medians of ten samples with outliers among them; the short ones are noisy. */
static void test_samples(void **state)
{
    (void)state;
    enum { POINTS = 7, SAMPLES = 10, TRIALS = 400 };
    const Truth truth = {0.5, 1, 2, 1, 2, POINTS, 0};
    int held = 0;
    double wide = 0, wide_unweighted = 0;
    for (int t = 0; t < TRIALS; t++) {
        GrowthPoint points[POINTS];
        for (int i = 0; i < POINTS; i++) {
            double x[SAMPLES];
            const double n = pow(2, i), noise = i < 2 ? 0.1 : 0.02;
            for (int s = 0; s < SAMPLES; s++)
                x[s] = law(&truth, n) * exp(noise * normal()) * (uniform() < 0.03 ? 2.5 : 1);
            const double median = stats_median(x, SAMPLES);
            points[i] =
                (GrowthPoint){n, median, 1.86 * stats_mad(x, SAMPLES) / sqrt(SAMPLES) / median};
        }
        const GrowthFit fit = growth_fit_law(points, POINTS);
        held += fit.low <= 2 && 2 <= fit.high;
        wide += fit.high - fit.low;
        for (int i = 0; i < POINTS; i++) points[i].spread = 0;
        const GrowthFit blind = growth_fit_law(points, POINTS);
        wide_unweighted += blind.high - blind.low;
    }
    assert_in_range(1000 * held / TRIALS, 925, 985);
    assert_true(wide < 0.85 * wide_unweighted); /* what samples say of themselves is used */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_order_and_repeats),
        cmocka_unit_test(test_few_points), cmocka_unit_test(test_constant),
        cmocka_unit_test(test_all_floor),  cmocka_unit_test(test_bent),
        cmocka_unit_test(test_coverage),   cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
