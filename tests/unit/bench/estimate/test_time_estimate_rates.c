#include "bench/estimate/time_estimate.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

static Limits limits_of(double fp32, double bf16, const char *gpu)
{
    Limits limits = {0};
    strcpy(limits.key.gpu, gpu);
    limits.rate[limits_largest(PRECISION_FP32)][LIMITS_ALL] = (LimitsRate){fp32, fp32, fp32, 3};
    limits.rate[limits_largest(PRECISION_BF16)][LIMITS_ALL] = (LimitsRate){bf16, bf16, bf16, 3};
    return limits;
}

/* cmocka 1.1 compares floats only. */
static void assert_near(double x, double y)
{
    assert_true(fabs(x - y) <= 1e-9 * fabs(y));
}

static Config cell(const char *size, int64_t ctx, int64_t warmup, int64_t steps)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, size), ST_OK);
    c.ctx = ctx;
    c.warmup = warmup;
    c.steps = steps;
    return c;
}

static void rates_come_from_the_limits(void **state)
{
    (void)state;
    const Limits cpu = limits_of(1e11, 4e11, ""), gpu = limits_of(5e13, 6e14, "a GPU");
    const TimeEstimateRates a = time_estimate_rates(&cpu), b = time_estimate_rates(&gpu);
    assert_near(a.flops[PRECISION_BF16] / a.flops[PRECISION_FP32], 4);
    assert_true(a.flops[PRECISION_FP32] < 1e11 && a.flops[PRECISION_FP32] > 1e10);
    assert_true(a.flops[PRECISION_FP16] == a.flops[PRECISION_FP32]); /* not measured: the slowest */
    assert_false(a.gpu);
    assert_true(b.gpu);
    assert_true(b.start > a.start);
    const Limits old = limits_of(5e12, 0, "an old GPU");
    assert_true(a.bf16 && b.bf16);
    assert_false(time_estimate_rates(&old).bf16);
}

static void nothing_measured_is_guessed(void **state)
{
    (void)state;
    const TimeEstimateRates rates = time_estimate_rates(NULL);
    for (int p = 0; p < PRECISION_COUNT; p++) assert_true(rates.flops[p] > 0);
    assert_true(rates.bandwidth > 0);
}

static void time_follows_work_and_rate(void **state)
{
    (void)state;
    const Limits slow = limits_of(1e11, 1e11, ""), fast = limits_of(1e12, 1e12, "");
    const TimeEstimateRates a = time_estimate_rates(&slow), b = time_estimate_rates(&fast);
    const Config once = cell("small", 128, 1, 3), twice = cell("small", 128, 2, 6);
    const double x = time_estimate_cell(&once, &a) - a.start;
    assert_near((time_estimate_cell(&twice, &a) - a.start) / x, 2);
    assert_near((time_estimate_cell(&once, &b) - b.start) / x, 0.1);
    const Config both[] = {once, twice};
    assert_near(time_estimate_cells(both, 2, &a), 3 * x + 2 * a.start);
}

/* Two Neoverse-V1 cores take 3.0 s for a step of small at some 0.14 TFLOP/s of limit. */
static void a_known_step_is_about_right(void **state)
{
    (void)state;
    const Limits limits = limits_of(1.4e11, 1.4e11, "");
    const TimeEstimateRates rates = time_estimate_rates(&limits);
    const Config c = cell("small", 128, 1, 3);
    const double step = (time_estimate_cell(&c, &rates) - rates.start) / 4;
    assert_true(step > 3 && step < 6); /* rather too long than too short */
}

static void scores_in_memory_cost(void **state)
{
    (void)state;
    const TimeEstimateRates rates = time_estimate_rates(NULL);
    Config flash, naive;
    config_attention_defaults(&flash);
    flash.attention = ATTENTION_FLASH;
    flash.ctx = 8192;
    naive = flash;
    naive.attention = ATTENTION_NAIVE;
    assert_true(time_estimate_cell(&naive, &rates) > time_estimate_cell(&flash, &rates));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_come_from_the_limits), cmocka_unit_test(nothing_measured_is_guessed),
        cmocka_unit_test(time_follows_work_and_rate), cmocka_unit_test(a_known_step_is_about_right),
        cmocka_unit_test(scores_in_memory_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
