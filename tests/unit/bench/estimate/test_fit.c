/* What is known before a cell runs: where, whether it fits, and how long at best. */
#include "bench/estimate/fit.h"
#include "bench/estimate/time_estimate.h"
#include "bench/limits/roofline.h"
#include "bench/measure/rss.h"
#include "bench/record/cell_label.h"
#include "model/step_cost.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t plenty = (size_t)1 << 50;

static Config small_config(void)
{
    Config c;
    config_defaults(&c);
    strcpy(c.model.size, "custom");
    c.model.d_model = 64;
    c.model.d_ff = 96;
    c.model.num_layers = 3;
    c.model.num_heads = 4;
    c.model.vocab = 5000;
    c.ctx = 24;
    c.batch = 2;
    c.threads = 2;
    return c;
}

static Placement on_cpu(void)
{
    const Config c = small_config();
    Placement p;
    assert_int_equal(placement_of(&c, &p), ST_OK);
    assert_string_equal(p.name, "cpu");
    assert_int_equal(p.threads, 2);
    return p;
}

static void test_modes_need_more_and_more(void **state)
{
    (void)state;
    const Placement place = on_cpu();
    Config c = small_config();
    size_t need[MODE_COUNT];
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        Fit fit;
        c.mode = (Mode)mode;
        assert_int_equal(fit_make(&fit, &c, &place, 1000, plenty), ST_OK);
        assert_true(fit.fits);
        assert_int_equal(fit.mode, mode);
        need[mode] = fit.need[mode];
        assert_int_equal(need[mode],
                         mem_plan_total(&fit.binding.mem) + fit_allowance(&place) + 1000);
        fit_free(&fit);
    }
    assert_true(need[MODE_FWD] < need[MODE_FWD_BWD] && need[MODE_FWD_BWD] < need[MODE_TRAIN]);

    /* One byte short of a mode: the next lower one. */
    for (int mode = MODE_TRAIN; mode > MODE_FWD; mode--) {
        Fit fit;
        assert_int_equal(fit_make(&fit, &c, &place, 1000, need[mode]), ST_OK);
        assert_int_equal(fit.mode, mode);
        fit_free(&fit);
        assert_int_equal(fit_make(&fit, &c, &place, 1000, need[mode] - 1), ST_OK);
        assert_true(fit.fits);
        assert_int_equal(fit.mode, mode - 1);
        assert_int_equal(fit.need[mode], need[mode]);
        assert_non_null(strstr(fit_shortage(&fit, (Mode)mode).s, "short by 1 B"));
        fit_free(&fit);
    }
    Fit fit;
    assert_int_equal(fit_make(&fit, &c, &place, 1000, need[MODE_FWD] - 1), ST_OK);
    assert_false(fit.fits);
    for (int mode = 0; mode < MODE_COUNT; mode++) assert_int_equal(fit.need[mode], need[mode]);
    fit_free(&fit);
}

static void test_available(void **state)
{
    (void)state;
    const Placement place = on_cpu();
    Config c = small_config();
    size_t all = 0, limited = 0;
    assert_int_equal(fit_available(&c, &place, NULL, 0, &all), ST_OK);
    assert_true(all > 0);
    c.memory_limit = 12345678;
    assert_int_equal(fit_available(&c, &place, NULL, 1 << 20, &limited), ST_OK);
    assert_int_equal(limited, 12345678);
    c.memory_limit = INT64_MAX;
    assert_int_equal(fit_available(&c, &place, NULL, 0, &limited), ST_OK);
    assert_true(limited < plenty);
}

static void test_unsupported(void **state)
{
    (void)state;
    Placement place;
    Config c = small_config();
    c.precision = PRECISION_TF32;
    assert_int_equal(placement_of(&c, &place), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "tf32"));
    c = small_config();
    c.exec = EXEC_GRAPH;
    assert_int_equal(placement_of(&c, &place), ST_UNSUPPORTED);
    c = small_config();
    c.attention = ATTENTION_CUDNN;
    assert_int_equal(placement_of(&c, &place), ST_UNSUPPORTED);
    c = small_config();
    strcpy(c.device, "cuda:1");
    assert_int_equal(placement_of(&c, &place), ST_OK); /* a plan needs no device, a run does */
    if (!place.here) {
        assert_int_equal(placement_find(&c, &place), ST_UNSUPPORTED);
        assert_non_null(strstr(status_message(), "cuda:1"));
    }
    c = small_config();
    c.threads = 0;
    assert_int_equal(placement_of(&c, &place), ST_OK);
    assert_true(place.threads >= 1);
}

/* The formula behind the time left, against the plan's own count. */
static void test_work(void **state)
{
    (void)state;
    Config c = small_config();
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        Model model;
        c.mode = (Mode)mode;
        c.ctx += 5;
        assert_int_equal(model_build(&model, &c, c.mode, DT_F32), ST_OK);
        const double counted = step_cost_of(&model.plan).step.matmul_flops,
                     formula = time_estimate_flops(&c);
        if (fabs(counted - formula) > 1e-9 * counted) fail_msg("%.0f, not %.0f", formula, counted);
        model_free(&model);
    }
}

static void test_roofline(void **state)
{
    (void)state;
    Limits limits = {0};
    Model model;
    Config c = small_config();
    assert_int_equal(model_build(&model, &c, MODE_TRAIN, DT_F32), ST_OK);
    assert_true(isnan(roofline_seconds(&model.plan, &limits, PRECISION_FP32)));
    limits.rate[LIMIT_FP32_LARGEST][LIMITS_ALL].max = 1e9;
    limits.rate[LIMIT_COPY][LIMITS_ALL].max = 1e30; /* memory costs nothing */
    limits.cache_bytes = (int64_t)plenty;
    const double products = roofline_seconds(&model.plan, &limits, PRECISION_FP32);
    assert_true(fabs(products - step_cost_of(&model.plan).step.matmul_flops * 1e-9) <
                1e-9 * products);
    assert_true(isnan(roofline_seconds(&model.plan, &limits, PRECISION_BF16)));

    /* Products cost nothing: at least parameters, gradients and moments go through memory once. */
    limits.rate[LIMIT_FP32_LARGEST][LIMITS_ALL].max = 1e30;
    limits.rate[LIMIT_COPY][LIMITS_ALL].max = 1e9;
    const double cached = roofline_seconds(&model.plan, &limits, PRECISION_FP32);
    limits.cache_bytes = 0;
    const double streamed = roofline_seconds(&model.plan, &limits, PRECISION_FP32);
    assert_true(cached < 1e-12);
    assert_true(streamed > 16.0 * (double)model.n_elements * 1e-9);
    model_free(&model);
}

/* A step in fp8 has products of 8 and of 16 bits, and a roof where both rates are known. */
static void test_roofline_of_fp8(void **state)
{
    (void)state;
    Limits limits = {.cache_bytes = (int64_t)plenty};
    Model model;
    Config c = small_config();
    c.precision = PRECISION_FP8;
    assert_int_equal(model_build(&model, &c, MODE_TRAIN, DT_F32), ST_OK);
    limits.rate[LIMIT_COPY][LIMITS_ALL].max = 1e30;
    limits.rate[LIMIT_BF16_LARGEST][LIMITS_ALL].max = 1e9;
    assert_true(isnan(roofline_seconds(&model.plan, &limits, PRECISION_FP8)));
    limits.rate[LIMIT_FP8_LARGEST][LIMITS_ALL].max = 1e9;
    const double slow = roofline_seconds(&model.plan, &limits, PRECISION_FP8);
    limits.rate[LIMIT_FP8_LARGEST][LIMITS_ALL].max = 1e30;
    const double wide = roofline_seconds(&model.plan, &limits, PRECISION_FP8);
    const double linears = 6.0 * (4 * 64 * 64 + 3 * 64 * 96) * 3 * 48; /* 48 tokens, three layers */
    assert_true(fabs(slow - wide - linears * 1e-9) < 1e-9 * slow);
    model_free(&model);
}

/* What --sample-time cuts off is not expected either. */
static void test_expected_time(void **state)
{
    (void)state;
    const TimeEstimate estimate = {.roof_seconds = 0.8}; /* a step of 1 s is expected */
    Config c = small_config();
    c.warmup = 10;
    c.steps = 100;
    assert_true(fabs(time_estimate_from_roofline(&estimate, &c) - 110) < 1e-9);
    assert_true(isnan(time_estimate_minimum(&estimate, &c)));
    c.sample_time = 20;
    assert_true(fabs(time_estimate_from_roofline(&estimate, &c) - 30) < 1e-9);
    c.sample_time = 0.1;
    assert_true(fabs(time_estimate_from_roofline(&estimate, &c) - 4) < 1e-9);
    assert_true(fabs(time_estimate_minimum(&estimate, &c) - 3.2) < 1e-9);
    c.steps = 2;
    assert_true(fabs(time_estimate_minimum(&estimate, &c) - 2.4) < 1e-9);
    assert_true(isnan(time_estimate_from_roofline(&(TimeEstimate){NAN, NAN}, &c)));
}

static void test_rss(void **state)
{
    (void)state;
    enum { BYTES = 48 << 20 };
    Rss before, after;
    assert_int_equal(rss_read(&before), ST_OK);
    assert_true(before.now > 0 && before.peak >= before.now);
    char *memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 1, BYTES);
    assert_int_equal(memory[BYTES / 2], 1);
    free(memory);
    assert_int_equal(rss_read(&after), ST_OK);
    assert_true(after.peak >= before.now + BYTES * 9UL / 10);
}

static void test_label(void **state)
{
    (void)state;
    bool varies[OPTION_COUNT] = {0};
    Config c = small_config();
    varies[OPTION_CTX] = varies[OPTION_PRECISION] = varies[OPTION_D_MODEL] = true;
    assert_string_equal(cell_label(&c, NULL).s, "custom");
    assert_string_equal(cell_label(&c, varies).s, "custom d_model 64 ctx 24 fp32");
    strcpy(c.model.size, "tiny");
    assert_string_equal(cell_label(&c, varies).s, "tiny ctx 24 fp32");
    varies[OPTION_D_HEAD] = varies[OPTION_MASK] = true; /* of other cells: a model has neither */
    assert_string_equal(cell_label(&c, varies).s, "tiny ctx 24 fp32");
    config_attention_defaults(&c);
    varies[OPTION_VOCAB] = true;
    assert_string_equal(cell_label(&c, varies).s, "attention d_head 64 ctx 1024 causal fp32");
}

static void test_label_seed(void **state)
{
    (void)state;
    bool varies[OPTION_COUNT] = {[OPTION_SEED] = true, [OPTION_CTX] = true};
    Config cells[3] = {small_config(), small_config(), small_config()};
    cells[1].seed = 1;
    cells[2].ctx = 48;
    assert_string_equal(cell_label_among(&cells[0], cells, 3, varies).s, "custom ctx 24 seed 0");
    assert_string_equal(cell_label_among(&cells[1], cells, 3, varies).s, "custom ctx 24 seed 1");
    assert_string_equal(cell_label_among(&cells[2], cells, 3, varies).s, "custom ctx 48");
    cells[1].subject = SUBJECT_ATTENTION;
    assert_string_equal(cell_label_among(&cells[0], cells, 3, varies).s, "custom ctx 24");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes_need_more_and_more),
        cmocka_unit_test(test_available),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_roofline_of_fp8),
        cmocka_unit_test(test_expected_time),
        cmocka_unit_test(test_rss),
        cmocka_unit_test(test_label),
        cmocka_unit_test(test_label_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
