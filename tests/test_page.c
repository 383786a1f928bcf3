/* The data of a page: what is in it, and that bad files are refused whole. */
#include "report/page.h"
#include "report/page_data.h"
#include "report/page_parts.h"
#include "with_cmocka.h"

#include <stdlib.h>
#include <string.h>

static json_t *data_of(const char *const *paths, int n)
{
    PageFile files[4] = {0};
    json_t *data = NULL;
    for (int i = 0; i < n; i++) assert_int_equal(page_file_read(&files[i], paths[i]), ST_OK);
    assert_int_equal(page_data_make(&data, files, n, "roofstep report"), ST_OK);
    for (int i = 0; i < n; i++) page_file_free(&files[i]);
    return data;
}

static const json_t *table_of(const json_t *data, const char *section)
{
    const json_t *tables = json_object_get(data, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const json_t *table = json_array_get(tables, i);
        if (strcmp(record_text(table, "section"), section) == 0) return table;
    }
    return NULL;
}

static bool says(const json_t *data, const char *fragment)
{
    const json_t *lines = json_object_get(data, "summary");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        if (strstr(json_string_value(json_array_get(lines, i)), fragment)) return true;
    }
    return false;
}

static void test_rows_by_kind(void **state)
{
    (void)state;
    const char *const paths[] = {"golden/results.json", "golden/attention.json",
                                 "../docs/results/h200-limits.json"};
    json_t *data = data_of(paths, 3);
    const json_t *files = json_object_get(data, "files");
    assert_int_equal(json_array_size(files), 3);
    const json_t *bench = json_array_get(files, 0), *attention = json_array_get(files, 1);
    assert_true(json_array_size(record_value(bench, "rows.model")) > 0);
    assert_int_equal(json_array_size(record_value(bench, "rows.attention")), 0);
    assert_int_equal(json_array_size(record_value(attention, "rows.attention")), 8);
    assert_int_equal(json_array_size(record_value(attention, "labels.attention")), 8);
    assert_int_equal(json_array_size(record_value(attention, "rows.model")), 0);
    assert_true(table_of(data, "end-to-end") && table_of(data, "attention"));
    assert_true(table_of(data, "limits") && table_of(data, "environment"));
    assert_null(table_of(data, "comparison"));
    assert_null(table_of(data, "precision"));
    const json_t *table = table_of(data, "attention");
    const json_t *row = json_array_get(json_object_get(table, "rows"), 0);
    assert_int_equal(json_array_size(row), json_array_size(json_object_get(table, "columns")));
    json_decref(data);
}

/* Of 80.5 ms and 40 ms; naive keeps 16448.5 MiB, flash 64.5 MiB. */
static void test_summary(void **state)
{
    (void)state;
    const char *const attention[] = {"golden/attention.json"};
    json_t *data = data_of(attention, 1);
    assert_true(says(data, "8 cells: 5 ok, 1 OOM, 1 unsupported, 1 timeout."));
    assert_true(says(data, "Attention over 16384 tokens: flash is 2.0 times as fast as naive"));
    assert_true(says(data, "keeps 64.5 MiB for backward instead of 16.1 GiB"));
    json_decref(data);
    const char *const sizes[] = {"../docs/results/v1-six-sizes.json"};
    data = data_of(sizes, 1);
    assert_true(says(data, "Fastest: tiny, 1052 tokens/s, a step in 486.8 ms."));
    assert_true(says(data, "Slowest: xl (fwd_bwd only), 10.87 tokens/s"));
    assert_true(
        says(data, "Where the time of xl (fwd_bwd only) goes: forward 32 %, backward 68 %."));
    json_decref(data);
}

static void test_comparison(void **state)
{
    (void)state;
    const char *const paths[] = {"golden/compare-a.json", "golden/compare-b.jsonl"};
    json_t *data = data_of(paths, 2);
    assert_non_null(table_of(data, "comparison"));
    assert_true(says(data, "compare-b.jsonl against compare-a.json: "));
    json_decref(data);
}

static void test_refused(void **state)
{
    (void)state;
    PageFile file;
    assert_int_equal(page_file_read(&file, "golden/results.md"), ST_USAGE);
    page_file_free(&file);
    assert_int_equal(page_file_read(&file, "golden/nowhere.json"), ST_USAGE);
    page_file_free(&file);
}

static void test_page(void **state)
{
    (void)state;
    PageFile file;
    Text page = {0};
    assert_int_equal(page_file_read(&file, "golden/results.json"), ST_OK);
    const Status status = page_write(&page, &file, 1, "roofstep report '</script>'");
    assert_int_equal(status, page_is_built() ? ST_OK : ST_UNSUPPORTED);
    if (page_is_built()) {
        assert_non_null(strstr(text_str(&page), "\\u003c/script>'"));
        assert_null(strstr(text_str(&page), "'</script>'"));
        assert_null(strstr(text_str(&page), "{{"));
    }
    text_free(&page);
    page_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_by_kind), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_comparison),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
