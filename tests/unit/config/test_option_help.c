/* --help is written from the table that parses: nothing taken may be missing from it. */
#include "config/option.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static const OptionSet set = {
    .taken = OPTION_LIST(OPTIONS_STEP, OPTIONS_OUTPUT, OPTION_TIMEOUT, OPTION_DRY_RUN),
    .lists = OPTION_LIST(OPTIONS_STEP),
    .formats = "md json ",
};

static Text help;

static int write_help(void **state)
{
    (void)state;
    option_help(&help, &set, 100);
    return text_status(&help) == ST_OK ? 0 : -1;
}

static int free_help(void **state)
{
    (void)state;
    text_free(&help);
    return 0;
}

static void contains(const char *fragment)
{
    if (!strstr(text_str(&help), fragment)) fail_msg("no '%s' in\n%s", fragment, text_str(&help));
}

static void every_option_and_no_other_is_there(void **state)
{
    (void)state;
    for (int id = 0; id < OPTION_COUNT; id++) {
        char line[80];
        const bool taken = option_takes(&set, id);
        const bool list = option_in(set.lists, id);
        snprintf(line, sizeof line, "\n%c --%s ", list ? '*' : ' ', option_table[id].name);
        if ((strstr(text_str(&help), line) != NULL) != taken) fail_msg("%s", line);
        if (taken) contains(option_table[id].help);
    }
}

static void defaults_and_words_are_there(void **state)
{
    (void)state;
    contains("--size tiny|small|medium|large|xl|2.7B|10B\n");
    contains("(default small)");
    contains("--ctx N ");
    contains("(default 128)");
    contains("model width (default: as --size or --model)");
    contains("--exec eager|fused|graph ");
    contains("(default fused)");
    contains("(default 0.001)");
    contains("(default dynamic)");
    contains("(default 600s)");
    contains("--format md|json ");
    contains("(default md)");
    contains("64-1024*2");
}

static void lines_fit_a_screen(void **state)
{
    const OptionSet all = {.taken = OPTION_LIST(OPTIONS_ALL),
                           .lists = OPTION_LIST(OPTIONS_STEP),
                           .formats = "md json "};
    Text text = {0};
    (void)state;
    for (size_t columns = 80; columns <= 100; columns += 20) {
        option_help(&text, &all, columns);
        for (const char *line = text_str(&text); *line;) {
            const size_t n = strcspn(line, "\n");
            if (n > columns) fail_msg("%zu columns: %.*s", n, (int)n, line);
            line += n + (line[n] != 0);
        }
        text_free(&text);
    }
}

static void no_lists_no_footnote(void **state)
{
    (void)state;
    Text text = {0};
    const OptionSet small = {.taken = OPTION_LIST(OPTION_OUT)};
    option_help(&text, &small, 100);
    assert_null(strchr(text_str(&text), '*'));
    assert_null(strstr(text_str(&text), "Model"));
    assert_non_null(strstr(text_str(&text), "Output\n  --out FILE"));
    text_free(&text);
}

static void a_command_has_words_of_its_own(void **state)
{
    static const OptionWords words[] = {
        {.id = OPTION_PRECISION, .by_default = "all of them"},
        {.id = OPTION_RESUME, .value = "DIR", .help = "go on with what is there"}};
    const OptionSet own = {.taken = OPTION_LIST(OPTION_PRECISION, OPTION_RESUME, OPTION_OUT),
                           .words = words,
                           .n_words = 2};
    (void)state;
    Text text = {0};
    option_help(&text, &own, 100);
    assert_non_null(strstr(text_str(&text), "attention (default: all of them)\n"));
    assert_null(strstr(text_str(&text), "fp32)"));
    assert_non_null(
        strstr(text_str(&text), "--resume DIR                    go on with what is there\n"));
    assert_non_null(strstr(text_str(&text), "--out FILE"));
    text_free(&text);
}

/* Every name of another tool leads to the option it stands for, unless the command has no such option. */
static void names_of_other_tools_are_understood(void **state)
{
    static const struct {
        const char *name;
        OptionId id;
        const char *value;
    } aliases[] = {
#define ALIAS(name, id, value) {name, OPTION_##id, value},
#include "config/option_aliases.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        const OptionSet one = {.taken = OPTION_LIST(aliases[i].id)}, none = {0};
        char hint[80];
        OptionId found;
        snprintf(hint, sizeof hint, "did you mean --%s%s?", option_table[aliases[i].id].name,
                 aliases[i].value);
        assert_int_equal(option_find(&one, aliases[i].name, &found), ST_USAGE);
        if (!strstr(status_message(), hint)) fail_msg("%s, not %s", status_message(), hint);
        assert_int_equal(option_find(&none, aliases[i].name, &found), ST_USAGE);
        if (strstr(status_message(), hint)) fail_msg("%s", status_message());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_and_no_other_is_there),
        cmocka_unit_test(defaults_and_words_are_there),
        cmocka_unit_test(lines_fit_a_screen),
        cmocka_unit_test(no_lists_no_footnote),
        cmocka_unit_test(a_command_has_words_of_its_own),
        cmocka_unit_test(names_of_other_tools_are_understood),
    };
    return cmocka_run_group_tests(tests, write_help, free_help);
}
