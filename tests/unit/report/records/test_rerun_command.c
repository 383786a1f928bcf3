/* A command that is shown measures again. */
#include "report/records/rerun_command.h"
#include "with_cmocka.h"

#include <string.h>

static void expect(const char *command, const char *again)
{
    Text text = {0};
    rerun_command(&text, command);
    assert_string_equal(text_str(&text), again);
    text_free(&text);
}

static void test_resume_goes(void **state)
{
    (void)state;
    expect("", "");
    expect("roofstep bench", "roofstep bench");
    expect("roofstep bench --out a.json --resume a.json", "roofstep bench --out a.json");
    expect("roofstep bench --resume a.json --out a.json", "roofstep bench --out a.json");
    expect("roofstep bench --resume=a.json --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench --resume", "roofstep bench");
}

/* As escape_shell() writes them. */
static void test_quoted_words(void **state)
{
    (void)state;
    expect("roofstep bench --resume 'my file.json' --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench --resume 'it'\\''s a file' --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench '--resume=my file' --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench $'--resume=a\\033 \\047b' --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench --resume $'a\\047 \\134' --steps 3", "roofstep bench --steps 3");
    expect("roofstep bench --out 'to --resume it.json'",
           "roofstep bench --out 'to --resume it.json'");
    expect("roofstep bench --out 'never ends", "roofstep bench --out 'never ends");
}

/* It goes on as it was begun, which --resume DIR alone knows. */
static void test_suites_stay(void **state)
{
    (void)state;
    expect("roofstep suite --resume roofstep-report", "roofstep suite --resume roofstep-report");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume_goes),
        cmocka_unit_test(test_quoted_words),
        cmocka_unit_test(test_suites_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
