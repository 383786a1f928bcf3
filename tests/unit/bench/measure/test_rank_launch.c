#include "bench/measure/rank_launch.h"
#include "config/model_file.h"
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
    rank_launch_options(&words, &collective, &config, NULL);
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
    rank_launch_options(&words, &collective, &config, NULL);
    assert_int_equal(words.n, 0);
    text_free(&words);
}

static const OptionSet step = {.taken = OPTION_LIST(OPTIONS_STEP, OPTIONS_RANKS)};

/* Parses a command line, and what a rank is told of its only cell. */
static void check_step(int argc, char **argv, const char *expected)
{
    Settings settings;
    Sweep asked, got;
    Text words = {0};
    char *again[32];
    int n = 0;
    if (sweep_parse(&step, argc, argv, &settings, &asked) != ST_OK)
        fail_msg("%s", status_message());
    rank_launch_options(&words, &step, &asked.configs[0], settings.model);
    for (size_t at = 0; at < words.n; at += strlen(again[n++]) + 1) again[n] = words.data + at;
    assert_int_equal(n, argc);
    assert_string_equal(again[0], expected);
    if (sweep_parse(&step, n, again, &settings, &got) != ST_OK) fail_msg("%s", status_message());
    assert_memory_equal(&asked.configs[0], &got.configs[0], sizeof(Config));
    sweep_free(&asked);
    sweep_free(&got);
    text_free(&words);
}

/* Dimensions of a preset and of a model's file are not said once more: they would make it another. */
static void test_models(void **state)
{
    (void)state;
    char *preset[] = {"--size=medium", "--vocab=500", "--ranks=3", "--parallel=ddp-flat"};
    char *custom[] = {"--d-model=64", "--num-heads=4", "--ranks=2", "--bucket=1000000"};
    Config config;
    Text words = {0};
    char *file[] = {"--model=gpt2", "--num-layers=2", "--accumulate=3", "--ranks=2"};
    check_step(4, preset, preset[0]);
    check_step(4, custom, custom[0]);
    check_step(4, file, file[0]);
    config_defaults(&config); /* of a list, also where one name begins another */
    assert_int_equal(model_file_load(&config.model, "gpt2-xl"), ST_OK);
    config.ctx = 128;
    rank_launch_options(&words, &step, &config, "gpt2,gpt2-xl,llama-3.2-1b");
    assert_string_equal(words.data, "--model=gpt2-xl");
    text_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_make_the_same_cell),
        cmocka_unit_test(test_defaults_need_no_options),
        cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
