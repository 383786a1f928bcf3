#include "base/disk_cache.h"
#include "base/text.h"
#include "own_cache.h"
#include "with_cmocka.h"

#include <string.h>

static void test_outlives_its_table(void **state)
{
    (void)state;
    DiskCache *a = disk_cache_open("odd name/1", "tests");
    assert_non_null(a);
    assert_null(disk_cache_get(a, "key"));
    assert_int_equal(disk_cache_put(a, "key", "text", false), ST_OK);
    assert_string_equal(disk_cache_get(a, "key"), "text");
    disk_cache_free(a);
    a = disk_cache_open("odd name/1", "tests");
    assert_string_equal(disk_cache_get(a, "key"), "text");
    disk_cache_free(a);
    a = disk_cache_open("other", "tests");
    assert_null(disk_cache_get(a, "key"));
    disk_cache_free(a);
}

/* As two processes that opened it before either added anything. */
static void test_two_at_a_time(void **state)
{
    (void)state;
    DiskCache *a = disk_cache_open("shared", "tests"), *b = disk_cache_open("shared", "tests");
    assert_int_equal(disk_cache_put(a, "both", "of a", false), ST_OK);
    assert_int_equal(disk_cache_put(b, "own", "of b", false), ST_OK);
    assert_int_equal(disk_cache_put(b, "both", "of b", false), ST_OK);
    assert_string_equal(disk_cache_get(b, "both"), "of a"); /* the first one counts */
    assert_int_equal(disk_cache_put(b, "both", "of b", true), ST_OK);
    assert_string_equal(disk_cache_get(b, "both"), "of b");
    assert_int_equal(disk_cache_put(a, "later", "of a", false),
                     ST_OK); /* knows only its own "both" */
    disk_cache_free(a);
    disk_cache_free(b);
    a = disk_cache_open("shared", "tests");
    assert_string_equal(disk_cache_get(a, "own"), "of b");
    assert_string_equal(disk_cache_get(a, "both"), "of b");
    disk_cache_free(a);
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
        DiskCache *table = disk_cache_open("corrupt", "tests");
        assert_non_null(table);
        assert_null(disk_cache_get(table, "key"));
        assert_int_equal(disk_cache_put(table, "key", "text", false), ST_OK);
        assert_string_equal(disk_cache_get(table, "key"), "text");
        disk_cache_free(table);
        table = disk_cache_open("corrupt", "tests");
        assert_string_equal(disk_cache_get(table, "key"), "text");
        disk_cache_free(table);
    }
}

/* A folder that cannot be made: it lives in memory. */
static void test_no_place(void **state)
{
    (void)state;
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/none", 1), 0);
    DiskCache *table = disk_cache_open("lost", "tests");
    assert_non_null(table);
    assert_int_equal(disk_cache_put(table, "key", "text", false), ST_OK);
    assert_string_equal(disk_cache_get(table, "key"), "text");
    disk_cache_free(table);
    assert_int_equal(setenv("XDG_CACHE_HOME", own_cache, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlives_its_table), cmocka_unit_test(test_two_at_a_time),
        cmocka_unit_test(test_corrupt_files), cmocka_unit_test(test_no_place)};
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
