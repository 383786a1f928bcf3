/* What a cell weighs in a sweep goes by the limits of this machine, where they are stored. */
#include "bench/estimate/time_estimate.h"
#include "bench/limits/limits_cache.h"
#include "own_cache.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static Config cell(Precision precision, int64_t threads)
{
    Config c;
    config_defaults(&c);
    snprintf(c.device, sizeof c.device, "cpu");
    c.precision = precision;
    c.threads = threads;
    c.timeout = 1e9;
    return c;
}

static void store(int threads)
{
    Limits limits = {0};
    assert_int_equal(limits_key(threads, &limits.key), ST_OK);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const bool bf16 = i >= LIMIT_BF16_LARGEST && i <= LIMIT_BF16_WEIGHT_GRAD;
        const double rate = bf16 ? 8e10 : 1e10;
        limits.rate[i][LIMITS_ALL] = limits.rate[i][LIMITS_ONE] = (LimitsRate){rate, rate, rate, 3};
    }
    assert_int_equal(limits_cache_store(&limits), ST_OK);
}

static void weights_go_by_the_limits(void **state)
{
    (void)state;
    const Config fp32 = cell(PRECISION_FP32, 1), bf16 = cell(PRECISION_BF16, 1);
    store(1);
    assert_true(time_estimate_weight_is_known(&fp32));
    const double ratio = time_estimate_weight(&fp32) / time_estimate_weight(&bf16);
    if (!(ratio > 7 && ratio < 8.1)) fail_msg("eight times the rate, %.3g times the weight", ratio);
    /* seconds */
    const double least = time_estimate_flops(&fp32) * 15 / 1e10;
    assert_true(time_estimate_weight(&fp32) > least && time_estimate_weight(&fp32) < 3 * least);
}

static void without_limits_cells_are_only_compared(void **state)
{
    (void)state;
    const Config one = cell(PRECISION_FP32, 2);
    Config twice = one;
    twice.warmup *= 2;
    twice.steps *= 2;
    assert_false(time_estimate_weight_is_known(&one));
    const double ratio = time_estimate_weight(&twice) / time_estimate_weight(&one);
    assert_true(ratio > 1.8 && ratio <= 2);
}

static void no_cell_weighs_more_than_its_timeout(void **state)
{
    (void)state;
    Config endless = cell(PRECISION_FP32, 2);
    endless.steps = 1000000;
    endless.timeout = 5;
    assert_true(time_estimate_weight(&endless) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_go_by_the_limits),
        cmocka_unit_test(without_limits_cells_are_only_compared),
        cmocka_unit_test(no_cell_weighs_more_than_its_timeout),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
