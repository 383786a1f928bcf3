#include "bench/record/environment.h"
#include "bench/record/record.h"
#include "report/format/flat_row.h"
#include "with_cmocka.h"

#include <string.h>
#include <unistd.h>

static json_t *make(const char *command)
{
    json_t *environment;
    assert_int_equal(environment_new(&environment, command), ST_OK);
    return environment;
}

static void it_says_what_a_reader_needs(void **state)
{
    static const char *const always[] = {
        "id",  "version",      "commit",   "compiler", "flags",          "kernel",
        "cpu", "architecture", "time_utc", "command",  "libraries.blas", "libraries.glibc",
    };
    (void)state;
    json_t *e = make("roofstep bench");
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        const char *text = record_text(e, always[i]);
        if (!text || !*text) fail_msg("'%s' is missing", always[i]);
    }
    int64_t n;
    assert_true(record_int(e, "usable_cores", &n) && n >= 1);
    assert_true(record_int(e, "memory_mib", &n) && n > 0);
    assert_string_equal(record_text(e, "command"), "roofstep bench");
    json_decref(e);
}

/* A column whose path is no name in the environment would stay empty for ever. */
static void its_columns_exist(void **state)
{
    (void)state;
    json_t *e = make("x");
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    for (int c = 0; c < n; c++) {
        const FlatColumn *column = &columns[c];
        if (column->environment && !record_value(e, column->path)) fail_msg("no %s", column->path);
    }
    json_decref(e);
}

static void columns_have_names_of_their_own(void **state)
{
    (void)state;
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(columns[a].name, columns[b].name);
        }
    }
}

static void the_id_does_not_depend_on_the_moment(void **state)
{
    (void)state;
    json_t *a = make("roofstep bench --size tiny"), *b = make("roofstep plan");
    assert_string_equal(record_text(a, "id"), record_text(b, "id"));
    assert_int_equal(strlen(record_text(a, "id")), 12);
    assert_string_not_equal(record_text(a, "command"), record_text(b, "command"));
    json_decref(a);
    json_decref(b);
}

static void no_host_is_named(void **state)
{
    (void)state;
    char host[256] = "";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    json_t *e = make("x"), *value;
    const char *name;
    json_object_foreach(e, name, value)
    {
        const char *text = json_string_value(value);
        if (text && *host && strcmp(text, host) == 0) fail_msg("'%s' names the host", name);
    }
    json_decref(e);
}

static void a_command_line_may_hold_any_bytes(void **state)
{
    (void)state;
    json_t *e = make("roofstep --out '\xff'");
    assert_string_equal(record_text(e, "command"), "roofstep --out '?'");
    json_decref(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_a_reader_needs),
        cmocka_unit_test(its_columns_exist),
        cmocka_unit_test(columns_have_names_of_their_own),
        cmocka_unit_test(the_id_does_not_depend_on_the_moment),
        cmocka_unit_test(no_host_is_named),
        cmocka_unit_test(a_command_line_may_hold_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
