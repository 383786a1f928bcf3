/* `--recompute auto` computes as little again as the memory allows. */
#include "bench/estimate/fit.h"
#include "bench/estimate/fit_search.h"
#include "model/transform_recompute.h"
#include "model_variants.h"
#include "op_harness.h"

static const Placement place = {.backend = BACKEND_cpu, .threads = 2, .name = "cpu"};

static Config deep_config(void)
{
    Config c = variants_config();
    c.model.num_layers = 12;
    c.ctx = 64;
    c.model.d_model = 64;
    c.model.d_ff = 256;
    return c;
}

static size_t planned(Config c, int64_t blocks)
{
    size_t bytes = 0;
    c.recompute = blocks ? CONFIG_RECOMPUTE_BLOCK : CONFIG_RECOMPUTE_NONE;
    c.recompute_blocks = blocks;
    ASSERT_OK(fit_planned_bytes(&c, &place, c.mode, &bytes));
    return bytes;
}

static int64_t settled(Config c, size_t most)
{
    Config out;
    const size_t limit = most < SIZE_MAX / 2 ? most + fit_allowance(&place) : most;
    c.recompute = CONFIG_RECOMPUTE_AUTO;
    ASSERT_OK(fit_settle_recompute(&c, &place, c.mode, 0, limit, &out));
    assert_int_not_equal(out.recompute, CONFIG_RECOMPUTE_AUTO);
    return transform_recompute_blocks(&out);
}

static void test_least(void **state)
{
    (void)state;
    const Config c = deep_config();
    assert_int_equal(settled(c, planned(c, 0)), 0);
    assert_int_equal(settled(c, SIZE_MAX), 0);
    assert_int_equal(settled(c, 0), 11); /* all there are: it does not fit, but comes closest */
    for (int64_t blocks = 1; blocks <= 8; blocks++) {
        const size_t enough = planned(c, blocks);
        assert_true(enough < planned(c, blocks - 1));
        assert_int_equal(settled(c, enough), blocks);
        assert_int_equal(settled(c, enough - 1), blocks + 1);
    }
}

static void test_others_are_left_alone(void **state)
{
    (void)state;
    Config c = deep_config(), out;
    c.recompute = 3;
    ASSERT_OK(fit_settle_recompute(&c, &place, c.mode, 0, 1, &out));
    assert_int_equal(out.recompute, 3);
    c.recompute = CONFIG_RECOMPUTE_AUTO;
    ASSERT_OK(fit_settle_recompute(&c, &place, MODE_FWD, 0, 1, &out));
    assert_int_equal(out.recompute, CONFIG_RECOMPUTE_NONE);
}

static void test_a_limit_is_needed(void **state)
{
    (void)state;
    Config c = deep_config(), out;
    ASSERT_OK(fit_settle_recompute(&c, &place, c.mode, 0, 0, &out));
    c.recompute = CONFIG_RECOMPUTE_AUTO;
    assert_int_equal(fit_settle_recompute(&c, &place, c.mode, 0, 0, &out), ST_USAGE);
    assert_non_null(strstr(status_message(), "--memory-limit"));
}

/* The same cell as bench would run it: in a memory that is too small without it. */
static void test_fit(void **state)
{
    (void)state;
    Config c = deep_config();
    Fit fit;
    size_t saved = 0;
    const size_t beside = fit_allowance(&place), limit = planned(c, 4) + beside;
    ASSERT_OK(fit_make(&fit, &c, &place, 0, limit));
    assert_true(fit.mode < MODE_TRAIN);
    fit_free(&fit);
    c.recompute = CONFIG_RECOMPUTE_AUTO;
    ASSERT_OK(fit_make(&fit, &c, &place, 0, limit));
    assert_true(fit.fits && fit.mode == MODE_TRAIN);
    assert_int_equal(fit.need[MODE_TRAIN], limit);
    assert_int_equal(transform_recompute_blocks(&fit.model.config), 4);
    ASSERT_OK(fit_recompute_saves(&fit, &place, &saved));
    assert_int_equal(saved, planned(c, 0) - planned(c, 4));
    fit_free(&fit);
}

static void test_what_fits(void **state)
{
    (void)state;
    Config c = deep_config();
    const size_t beside = fit_allowance(&place);
    FitLimit fits[] = {
        {.limit = planned(c, 0) + beside}, {.limit = planned(c, 3) + beside}, {.limit = 1}};
    size_t need[MODE_COUNT];
    c.recompute = CONFIG_RECOMPUTE_AUTO;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        ASSERT_OK(fit_search_need(&c, &place, (Mode)mode, 0, &need[mode]));
    }
    assert_int_equal(need[MODE_TRAIN], planned(c, 11) + beside);
    ASSERT_OK(fit_search(&c, &place, 0, need, fits, 3));
    assert_int_equal(fits[0].recomputed_blocks, 0);
    assert_int_equal(fits[1].recomputed_blocks, 3);
    assert_int_equal(fits[1].need, fits[1].limit);
    assert_true(fits[0].fits && fits[1].fits && !fits[2].fits);
    c.batch =
        fits[1]
            .most_batch; /* as large as it may be: with all blocks computed again, and no larger */
    ASSERT_OK(fit_search_need(&c, &place, MODE_TRAIN, 0, &need[MODE_TRAIN]));
    assert_true(need[MODE_TRAIN] <= fits[1].limit);
    c.batch++;
    ASSERT_OK(fit_search_need(&c, &place, MODE_TRAIN, 0, &need[MODE_TRAIN]));
    assert_true(need[MODE_TRAIN] > fits[1].limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_others_are_left_alone),
        cmocka_unit_test(test_a_limit_is_needed),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
