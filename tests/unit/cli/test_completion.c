/* Commands are found by name, and help, the manual page and completion name every command and option. */
#include "cli/help.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static void commands_are_found(void **state)
{
    const Command *found = NULL;
    (void)state;
    assert_int_equal(command_find("bench", &found), ST_OK);
    assert_ptr_equal(found, &cmd_bench);
    assert_int_equal(command_find("bnech", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "did you mean bench?"));
    assert_int_equal(command_find("version", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "--version"));
    assert_int_equal(command_find("xyzzy", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "roofstep --help"));
}

/* Every option of every command is in the text, with this before its name. */
static void has_all(const char *file, const char *dashes)
{
    Text text = {0};
    assert_true(help_file(&text, file));
    for (int c = 0; command_list[c]; c++) {
        assert_non_null(strstr(text_str(&text), command_list[c]->name));
        for (int id = 0; id < OPTION_COUNT; id++) {
            char name[64];
            snprintf(name, sizeof name, "%s%.*s", dashes, (int)strcspn(option_table[id].name, "-"),
                     option_table[id].name);
            if (option_in(command_list[c]->options.taken, id) && !strstr(text_str(&text), name))
                fail_msg("%s has no %s of %s", file, name, command_list[c]->name);
        }
    }
    text_free(&text);
}

static void files_have_every_option(void **state)
{
    Text text = {0};
    (void)state;
    has_all("bash", "--");
    has_all("zsh", "--");
    has_all("man", "\\-\\-");
    assert_false(help_file(&text, "fish"));
}

/* Choices are offered, a placeholder in capitals is not. */
static void words_are_offered(void **state)
{
    Text text = {0};
    (void)state;
    assert_true(help_file(&text, "bash"));
    assert_non_null(strstr(text_str(&text), "--device) words='auto cpu cuda' ;;"));
    assert_non_null(strstr(text_str(&text), "--precision) words='fp32 tf32 bf16 fp16 fp8' ;;"));
    assert_null(strstr(text_str(&text), "words='N'"));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_found),
        cmocka_unit_test(files_have_every_option),
        cmocka_unit_test(words_are_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
