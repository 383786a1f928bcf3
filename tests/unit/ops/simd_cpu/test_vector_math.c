#include "ops/simd_cpu/vector_math.h"
#include "with_cmocka.h"

#include <math.h>

/* Distance from the true value in units of the last place of the float nearest to it. */
static double error_in_ulps(float got, double want)
{
    return fabs((double)got - want) / ldexp(1, ilogbf((float)want) - 23);
}

/* Floats of every magnitude and both signs: 7919 is prime, so all low bits take part. */
static void exp_is_within_two_ulps(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits < 0x100000000ULL; bits += 7919) {
        const float x = float16_from_bits((uint32_t)bits);
        const double want = exp((double)x);
        if (isnan(x) || want > 0x1.fffffep127 || want < 0x1p-126) continue;
        const double error = error_in_ulps(vector_math_exp(x), want);
        if (!(error <= 2)) fail_msg("exp(%a) is off by %g ulp", (double)x, error);
    }
}

static void exp_has_its_limits(void **state)
{
    (void)state;
    assert_true(vector_math_exp(0) == 1.0F);
    assert_true(vector_math_exp(-INFINITY) == 0);
    const float smallest = -0x1.5d589ep6F, largest = 0x1.62e42ep6F; /* with a normal result */
    assert_true(vector_math_exp(smallest) >= 0x1p-126F);
    assert_true(vector_math_exp(nextafterf(smallest, -INFINITY)) == 0);
    assert_true(vector_math_exp(largest) < INFINITY);
    assert_true(isinf(vector_math_exp(nextafterf(largest, INFINITY))));
    assert_true(isinf(vector_math_exp(INFINITY)));
    assert_true(isnan(vector_math_exp(NAN)));
}

static void sigmoid_has_its_limits(void **state)
{
    (void)state;
    assert_true(vector_math_sigmoid(0) == 0.5F);
    assert_true(vector_math_sigmoid(-INFINITY) == 0);
    assert_true(vector_math_sigmoid(INFINITY) == 1);
    assert_true(isnan(vector_math_sigmoid(NAN)));
    for (int i = -400; i <= 400; i++) {
        const float x = (float)i / 16;
        const double want = 1 / (1 + exp(-(double)x));
        assert_true(fabs((double)vector_math_sigmoid(x) - want) <= 3e-7 * want);
    }
}

static void normal_distribution_is_close(void **state)
{
    (void)state;
    assert_true(fabs((double)vector_math_normal_distribution(0) - 0.5) <= 1e-7);
    assert_true(vector_math_normal_distribution(INFINITY) == 1);
    assert_true(vector_math_normal_distribution(-INFINITY) == 0);
    assert_true(vector_math_normal_distribution(1e30F) == 1);
    assert_true(vector_math_normal_distribution(-1e30F) == 0);
    assert_true(isnan(vector_math_normal_distribution(NAN)));
    for (int i = -13000; i <= 13000; i++) {
        const float x = (float)i / 1024;
        const double want = 0.5 * erfc(-(double)x / sqrt(2));
        const double error = fabs((double)vector_math_normal_distribution(x) - want);
        /* x^2 / 2, up to 82 here, is rounded to 4e-6, and once more without fused multiply-add. */
        if (!(error <= 2.5e-7 && error <= 1e-5 * want))
            fail_msg("at %g it is off by %g of %g", (double)x, error, want);
    }
}

/* The largest at every place of vectors that end within a group of lanes. */
static void max_finds_it_everywhere(void **state)
{
    (void)state;
    float x[40];
    for (int n = 1; n <= 40; n++) {
        for (int at = 0; at < n; at++) {
            for (int i = 0; i < n; i++) x[i] = -2.0F - (float)i;
            x[at] = -1;
            assert_true(vector_math_max(x, n, -INFINITY) == -1);
            assert_true(vector_math_max(x, n, 7) == 7);
        }
    }
    assert_true(vector_math_max(x, 0, -INFINITY) == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_two_ulps),  cmocka_unit_test(exp_has_its_limits),
        cmocka_unit_test(sigmoid_has_its_limits),  cmocka_unit_test(normal_distribution_is_close),
        cmocka_unit_test(max_finds_it_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
