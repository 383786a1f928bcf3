#include "base/paired_test.h"
#include "base/rng.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>

enum { PAIRS = 40, STREAMS = 1500 };

/* The noise of one run: index 2 i and 2 i + 1 belong to pair i. */
typedef double Noise(uint64_t seed, int index, double *state);

static double normal(uint64_t seed, int index)
{
    const double u = rng_uniform(seed, 1, (uint64_t)index),
                 v = rng_uniform(seed, 2, (uint64_t)index);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

static double quiet(uint64_t seed, int index, double *state)
{
    (void)state;
    return 0.01 * normal(seed, index);
}

/* One run in five beside something that takes up to half of the machine. */
static double heavy(uint64_t seed, int index, double *state)
{
    const double busy = rng_uniform(seed, 3, (uint64_t)index);
    (void)state;
    return 0.01 * normal(seed, index) +
           (busy < 0.2 ? 0.5 * rng_uniform(seed, 4, (uint64_t)index) : 0);
}

/* The machine becomes slower and faster: neighbouring runs are alike. */
static double drifting(uint64_t seed, int index, double *state)
{
    *state = 0.95 * *state + 0.02 * normal(seed, index);
    return *state;
}

/* Every second run is slower: an enemy of programs that take turns in a fixed order. */
static double alternating(uint64_t seed, int index, double *state)
{
    (void)state;
    return (index % 2 ? 0.02 : 0) + 0.002 * normal(seed, index);
}

static void make_pairs(double *d, Noise *noise, uint64_t seed, double change)
{
    double state = 0;
    for (int i = 0; i < PAIRS; i++) {
        const double first = noise(seed, 2 * i, &state), second = noise(seed, 2 * i + 1, &state);
        const bool new_first = rng_below(seed, 5, (uint64_t)i, 2) == 1;
        d[i] = change + (new_first ? first - second : second - first);
    }
}

/* The share of streams in which some look, after any number of pairs, says that B is above or below. */
static double found(Noise *noise, double change, double center, int sign)
{
    int streams = 0;
    double d[PAIRS];
    for (uint64_t seed = 0; seed < STREAMS; seed++) {
        bool beyond = false;
        make_pairs(d, noise, seed + 1000, change);
        for (int n = 1; n <= PAIRS && !beyond; n++)
            beyond = paired_test_beyond(d, n, center, sign, 0.025);
        streams += beyond;
    }
    printf("change %g, center %g, sign %d: %d of %d\n", change, center, sign, streams, STREAMS);
    return (double)streams / STREAMS;
}

/* Allowed are 2.5 %; of 1,500 streams more than 3.7 % come by accident once in 600 times. */
static void looking_again_and_again_is_no_error(void **state)
{
    static Noise *const noises[] = {quiet, heavy, drifting, alternating};
    (void)state;
    for (int i = 0; i < 4; i++) assert_true(found(noises[i], 0, 0, 1) <= 0.037);
    assert_true(found(quiet, 0, 0, -1) <= 0.037);
    assert_true(found(heavy, 0.03, 0.03, -1) <= 0.037); /* a shift that is there is not excluded */
}

static void a_change_is_found(void **state)
{
    (void)state;
    assert_true(found(quiet, 0.03, 0, 1) >= 0.99);
    assert_true(found(heavy, 0.03, 0, 1) >= 0.8);
    assert_true(found(quiet, -0.03, 0, -1) >= 0.99);
    assert_true(found(quiet, 0, -0.03, 1) >= 0.99); /* the same: not faster by 3 % */
}

/* Five pairs of one sign come by accident once in 32 times: that is not enough. */
static void few_pairs_decide_nothing(void **state)
{
    const double d[] = {0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05};
    (void)state;
    for (int n = 0; n <= 5; n++) assert_false(paired_test_beyond(d, n, 0, 1, 0.025));
    assert_true(paired_test_beyond(d, 10, 0, 1, 0.025));
    assert_false(paired_test_beyond(d, 10, 0, -1, 0.025));
    assert_true(isinf(paired_test_interval(d, 3, 0.05).low));
    assert_true(isnan(paired_test_interval(d, 0, 0.05).middle));
}

static void the_interval_is_around_the_middle(void **state)
{
    double d[PAIRS], turned[PAIRS];
    (void)state;
    make_pairs(d, quiet, 7, 0.03);
    for (int i = 0; i < PAIRS; i++) turned[i] = -d[i];
    const PairedInterval x = paired_test_interval(d, PAIRS, 0.05);
    const PairedInterval y = paired_test_interval(turned, PAIRS, 0.05);
    assert_true(x.low > 0 && x.low < x.middle && x.middle < x.high && x.high < 0.06);
    assert_true(fabs(x.low + y.high) < 1e-5 && fabs(x.high + y.low) < 1e-5);
    assert_true(fabs(x.middle + y.middle) < 1e-12);
    assert_true(paired_test_beyond(d, PAIRS, x.low - 1e-5, 1, 0.025));
    assert_true(paired_test_interval(d, PAIRS, 0.005).low < x.low);
}

/* Equal times have no sign. */
static void equal_times_say_nothing(void **state)
{
    const double d[PAIRS] = {0};
    (void)state;
    assert_false(paired_test_beyond(d, PAIRS, 0, 1, 0.025));
    assert_true(paired_test_beyond(d, PAIRS, -0.01, 1, 0.025));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_again_and_again_is_no_error),
        cmocka_unit_test(a_change_is_found),
        cmocka_unit_test(few_pairs_decide_nothing),
        cmocka_unit_test(the_interval_is_around_the_middle),
        cmocka_unit_test(equal_times_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
