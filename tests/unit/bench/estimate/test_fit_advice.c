#include "bench/estimate/fit.h"
#include "bench/estimate/fit_advice.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Placement place;

static size_t need_of(const Config *config)
{
    size_t need = 0;
    assert_int_equal(fit_search_need(config, &place, config->mode, 0, &need), ST_OK);
    return need;
}

static const char *advice_for(const Config *config, size_t limit)
{
    static FitAdvice advice;
    assert_int_equal(fit_advice(config, &place, 0, limit, &advice), ST_OK);
    return advice.s;
}

static Config deep(void)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, "tiny"), ST_OK);
    c.model.num_layers = 12;
    c.ctx = 512;
    c.batch = 8;
    c.threads = 2;
    assert_int_equal(placement_of(&c, &place), ST_OK);
    return c;
}

/* Each change that is told is enough, and what is said of batch and context is true of them. */
static void each_change_is_enough(void **state)
{
    (void)state;
    const Config c = deep();
    Config less = c;
    less.recompute = CONFIG_RECOMPUTE_BLOCK;
    const size_t limit = need_of(&less);
    assert_true(limit < need_of(&c));
    const char *advice = advice_for(&c, limit);
    assert_int_equal(strncmp(advice, "--recompute auto", 16), 0);
    const char *batch = strstr(advice, ", --batch ");
    assert_non_null(batch);
    batch = strstr(batch, " --accumulate ") ? strstr(batch + 2, ", --batch ") : batch;
    assert_non_null(batch);
    less = c;
    less.batch = atoi(batch + 10);
    assert_true(less.batch < c.batch && need_of(&less) <= limit);
    less.batch *= 2;
    assert_true(need_of(&less) > limit);
    const char *ctx = strstr(advice, "--ctx ");
    assert_non_null(ctx);
    less = c;
    less.ctx = atoi(ctx + 6);
    assert_true(less.ctx < c.ctx && need_of(&less) <= limit);
    assert_true(strstr(advice, " or ") && !strstr(advice, " with "));
    /* One byte less, and recomputation is not enough. */
    assert_null(strstr(advice_for(&c, limit - 1), "--recompute auto,"));
}

/* The same sequences in micro-batches, of as many as divide them. */
static void micro_batches_are_enough(void **state)
{
    (void)state;
    static const int batches[][2] = {{8, 4}, {9, 3}, {7, 1}};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        Config c = deep();
        char words[64];
        c.batch = batches[i][0];
        Config less = c;
        less.batch = batches[i][1];
        less.accumulate = c.batch / less.batch;
        const size_t limit = need_of(&less);
        assert_true(limit < need_of(&c));
        snprintf(words, sizeof words, "--batch %d --accumulate %d", (int)less.batch,
                 (int)less.accumulate);
        assert_non_null(strstr(advice_for(&c, limit), words));
        c.mode = MODE_FWD_BWD; /* without an optimizer there is nothing to sum for */
        assert_null(strstr(advice_for(&c, limit), "--accumulate"));
    }
}

static void several_changes_together(void **state)
{
    (void)state;
    const Config c = deep();
    Config less = c;
    less.recompute = CONFIG_RECOMPUTE_BLOCK;
    less.batch = 1;
    const char *advice = advice_for(&c, need_of(&less));
    assert_true(strstr(advice, " with ") && strstr(advice, "--recompute auto"));
}

static void where_nothing_helps_nothing_is_said(void **state)
{
    (void)state;
    const Config c = deep();
    assert_string_equal(advice_for(&c, 1), "");
    Config least = c;
    least.mode = MODE_FWD;
    least.batch = 1;
    least.ctx = 64;
    least.precision = PRECISION_BF16;
    assert_string_equal(advice_for(&least, need_of(&least) - 1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_is_enough),
        cmocka_unit_test(micro_batches_are_enough),
        cmocka_unit_test(several_changes_together),
        cmocka_unit_test(where_nothing_helps_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
