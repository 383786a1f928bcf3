#include "base/kept_table.h"
#include "base/text.h"
#include "own_cache.h"
#include "with_cmocka.h"

#include <string.h>

static void test_outlives_its_table(void **state)
{
    (void)state;
    KeptTable *a = kept_table_open("odd name/1", "tests");
    assert_non_null(a);
    assert_null(kept_table_get(a, "key"));
    assert_int_equal(kept_table_put(a, "key", "text", false), ST_OK);
    assert_string_equal(kept_table_get(a, "key"), "text");
    kept_table_free(a);
    a = kept_table_open("odd name/1", "tests");
    assert_string_equal(kept_table_get(a, "key"), "text");
    kept_table_free(a);
    a = kept_table_open("other", "tests");
    assert_null(kept_table_get(a, "key"));
    kept_table_free(a);
}

/* As two processes that opened it before either added anything. */
static void test_two_at_a_time(void **state)
{
    (void)state;
    KeptTable *a = kept_table_open("shared", "tests"), *b = kept_table_open("shared", "tests");
    assert_int_equal(kept_table_put(a, "both", "of a", false), ST_OK);
    assert_int_equal(kept_table_put(b, "own", "of b", false), ST_OK);
    assert_int_equal(kept_table_put(b, "both", "of b", false), ST_OK);
    assert_string_equal(kept_table_get(b, "both"), "of a"); /* the first one counts */
    assert_int_equal(kept_table_put(b, "both", "of b", true), ST_OK);
    assert_string_equal(kept_table_get(b, "both"), "of b");
    assert_int_equal(kept_table_put(a, "later", "of a", false),
                     ST_OK); /* knows only its own "both" */
    kept_table_free(a);
    kept_table_free(b);
    a = kept_table_open("shared", "tests");
    assert_string_equal(kept_table_get(a, "own"), "of b");
    assert_string_equal(kept_table_get(a, "both"), "of b");
    kept_table_free(a);
}

static void test_corrupt_files(void **state)
{
    (void)state;
    static const char *const texts[] = {"",        "{", "[1]", "{\"key\": 1}", "{\"key\": null}",
                                        "\xff\xfe"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Text path = {0};
        text_printf(&path, "%s/roofstep/corrupt.json", own_cache);
        assert_int_equal(text_write_file(text_str(&path), texts[i], strlen(texts[i])), ST_OK);
        text_free(&path);
        KeptTable *table = kept_table_open("corrupt", "tests");
        assert_non_null(table);
        assert_null(kept_table_get(table, "key"));
        assert_int_equal(kept_table_put(table, "key", "text", false), ST_OK);
        assert_string_equal(kept_table_get(table, "key"), "text");
        kept_table_free(table);
        table = kept_table_open("corrupt", "tests");
        assert_string_equal(kept_table_get(table, "key"), "text");
        kept_table_free(table);
    }
}

/* A folder that cannot be made: it lives in memory. */
static void test_no_place(void **state)
{
    (void)state;
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/none", 1), 0);
    KeptTable *table = kept_table_open("lost", "tests");
    assert_non_null(table);
    assert_int_equal(kept_table_put(table, "key", "text", false), ST_OK);
    assert_string_equal(kept_table_get(table, "key"), "text");
    kept_table_free(table);
    assert_int_equal(setenv("XDG_CACHE_HOME", own_cache, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlives_its_table), cmocka_unit_test(test_two_at_a_time),
        cmocka_unit_test(test_corrupt_files), cmocka_unit_test(test_no_place)};
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
