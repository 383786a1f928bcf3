/* Arguments of a suite: written, read back, and refused when a suite would not write them. */
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"
#include "with_cmocka.h"

#include <string.h>

static Status check(const char *args)
{
    OptionId allowed[OPTION_COUNT + 1];
    suite_parts_options(SUITE_BENCH, allowed);
    return suite_arguments_check(args, &cmd_bench.options, allowed, "suite.json", "part bench");
}

static void own_options_are_accepted(void **state)
{
    (void)state;
    assert_int_equal(check(""), ST_OK);
    assert_int_equal(check("--size tiny,small --ctx 128 --threads 2 --timeout 5"), ST_OK);
    for (int i = 0; i < suite_parts_n_workloads; i++) {
        if (suite_parts_workloads[i].part == SUITE_BENCH)
            assert_int_equal(check(suite_parts_workloads[i].rest), ST_OK);
    }
}

static void others_are_refused_by_name(void **state)
{
    static const struct {
        const char *args, *named;
    } cases[] = {{"--out kept", "'--out'"},    {"--resume x", "'--resume'"},
                 {"--thread 1", "'--thread'"}, {"--ctx=4", "'--ctx=4'"},
                 {"kept", "'kept'"},           {"--threads 1 2", "'2'"},
                 {"--threads many", "many"},   {"--help", "'--help'"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(check(cases[i].args), ST_USAGE);
        assert_non_null(strstr(status_message(), "suite.json: part bench: "));
        if (!strstr(status_message(), cases[i].named)) fail_msg("%s", status_message());
    }
}

static void given_options_are_written(void **state)
{
    Settings settings = {0};
    Config config;
    Text text = {0};
    (void)state;
    config_defaults(&config);
    config.threads = 3;
    settings.given[OPTION_THREADS] = settings.given[OPTION_DEVICE] = true;
    suite_arguments_put(&text, OPTION_LIST(SUITE_OPTIONS_DEVICE, SUITE_OPTIONS_CELLS), &settings,
                        &config);
    assert_string_equal(text_str(&text), "--device auto --threads 3");
    text_free(&text);
}

static void sizes_have_names_and_commas(void **state)
{
    (void)state;
    assert_int_equal(suite_arguments_check_sizes("", "f"), ST_OK);
    assert_int_equal(suite_arguments_check_sizes("small,2.7B,", "f"), ST_OK);
    assert_int_equal(suite_arguments_check_sizes("small", "f"), ST_USAGE);
    assert_int_equal(suite_arguments_check_sizes("vast,", "f"), ST_USAGE);
}

static void a_command_has_its_folder(void **state)
{
    SuiteCommand command;
    Text text = {0}, words = {0};
    (void)state;
    assert_int_equal(suite_parts_command(&command, &words, SUITE_LIMITS, "--threads 1", "a folder"),
                     ST_OK);
    suite_parts_put_command(&text, &command);
    assert_string_equal(text_str(&text),
                        "roofstep limits --threads 1 --out 'a folder/limits.json'");
    assert_null(command.argv[command.n]); /* as execv() wants it */
    text_free(&text);
    text_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_options_are_accepted),  cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(given_options_are_written), cmocka_unit_test(sizes_have_names_and_commas),
        cmocka_unit_test(a_command_has_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
