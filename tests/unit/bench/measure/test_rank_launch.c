#include "bench/measure/rank_launch.h"
#include "config/sweep.h"
#include "with_cmocka.h"

#include <string.h>

static const OptionSet collective = {
    .taken = OPTION_LIST(OPTION_OP, OPTION_BYTES, OPTION_RANKS, OPTION_PRECISION, OPTION_UNTIL,
                         OPTION_SAMPLE_TIME, OPTION_TIMEOUT, OPTION_SEED),
    .defaults = config_collective_defaults};

/* What a rank reads is the cell that was asked for. */
static void test_options_make_the_same_cell(void **state)
{
    (void)state;
    Config config;
    Settings settings;
    Sweep sweep;
    Text words = {0};
    char *argv[32];
    int argc = 0;
    config_collective_defaults(&config);
    config.op = COLLECTIVE_REDUCE_SCATTER;
    config.bytes = 123456788;
    config.ranks = 17;
    config.precision = PRECISION_BF16;
    config.until = 0.015;
    config.sample_time = 0.1;
    config.timeout = 1.0 / 3;
    config.seed = 9000000000000000000;
    rank_launch_options(&words, &collective, &config);
    for (size_t at = 0; at < words.n; at += strlen(argv[argc++]) + 1) argv[argc] = words.data + at;
    assert_int_equal(argc, 8);
    if (sweep_parse(&collective, argc, argv, &settings, &sweep) != ST_OK)
        fail_msg("%s", status_message());
    assert_int_equal(sweep.n, 1);
    const Config *back = &sweep.configs[0];
    assert_true(back->op == config.op && back->bytes == config.bytes);
    assert_true(back->ranks == config.ranks && back->precision == config.precision);
    assert_true(back->seed == config.seed && back->sample_time == config.sample_time);
    assert_float_equal(back->until, config.until, 1e-12);
    assert_float_equal(back->timeout, config.timeout, 1e-12);
    sweep_free(&sweep);
    text_free(&words);
}

static void test_defaults_need_no_options(void **state)
{
    (void)state;
    Config config;
    Text words = {0};
    config_collective_defaults(&config);
    rank_launch_options(&words, &collective, &config);
    assert_int_equal(words.n, 0);
    text_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_make_the_same_cell),
        cmocka_unit_test(test_defaults_need_no_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
