/* The data of a page: what is in it, and that bad files are refused whole. */
#include "report/page/page.h"
#include "report/page/page_parts.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *data_of(const char *const *paths, int n)
{
    ResultInput files[4] = {0};
    json_t *data = NULL;
    const PageInput input = {.files = files, .n_files = n, .command = "roofstep report"};
    for (int i = 0; i < n; i++) assert_int_equal(result_input_read(&files[i], paths[i]), ST_OK);
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    for (int i = 0; i < n; i++) result_input_free(&files[i]);
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
    assert_true(says(data, "8 cells: 5 ok, 1 OOM, 1 unsupported, 1 timeout; times are means."));
    assert_true(
        says(data, "Attention over 16384 tokens, forward: flash is 2.0 times as fast as naive"));
    assert_true(says(data, "keeps 64.5 MiB for backward instead of 16.1 GiB"));
    json_decref(data);
    /* a file without times says nothing of a statistic */
    const char *const limits[] = {"../docs/results/h200-limits.json", "golden/attention.json"};
    data = data_of(limits, 2);
    assert_true(says(data, "; times are means."));
    json_decref(data);
    /* steps that `memory` ran count, too */
    ResultInput files[2];
    Text text = {0};
    const PageInput input = {.files = files, .n_files = 2, .command = "roofstep report"};
    text_puts(&text,
              "{\"environment\": {\"id\": \"x\"}, \"cells\": [{\"size\": \"large\", \"measured\": "
              "{\"size\": \"large\", \"ctx\": 64, \"batch\": 2, \"precision\": \"bf16\", "
              "\"peak_alloc_mib\": 409600}}]}");
    assert_int_equal(result_input_read(&files[0], "golden/results.json"), ST_OK);
    assert_int_equal(result_input_parse(&files[1], "memory.json", &text), ST_OK);
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_true(says(data, "Most memory: large, ctx 64, batch 2, precision bf16, peak 400 GiB."));
    for (int i = 0; i < 2; i++) result_input_free(&files[i]);
    text_free(&text);
    json_decref(data);
    const char *const sizes[] = {"golden/six-sizes.json"};
    data = data_of(sizes, 1);
    assert_true(says(data, "Fastest: tiny, 1052 tokens/s, a step in 486.8 ms."));
    assert_true(says(data, "Slowest: xl (fwd_bwd only), 10.87 tokens/s"));
    assert_true(says(data, "Time of xl (fwd_bwd only): forward 32 %, backward 68 %."));
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

/* The first row of a golden file twice, each with these fields on top. */
static void parse_rows(ResultInput *file, const char *name, const char *first, const char *second)
{
    const char *const fields[] = {first, second};
    json_t *root = json_load_file("golden/compare-a.json", 0, NULL), *rows = json_array();
    for (int i = 0; i < 2; i++) {
        json_t *row = json_deep_copy(json_array_get(json_object_get(root, "results"), 0));
        json_t *more = json_loads(fields[i], 0, NULL);
        assert_int_equal(json_object_update(row, more), 0);
        json_object_set_new(row, "cell", json_string(i ? "second" : "first"));
        json_array_append_new(rows, row);
        json_decref(more);
    }
    json_object_set_new(root, "results", rows);
    Text text = {0};
    char *dump = json_dumps(root, 0);
    text_puts(&text, dump);
    assert_int_equal(result_input_parse(file, name, &text), ST_OK);
    text_free(&text);
    free(dump);
    json_decref(root);
}

/* Rows of a file that was resumed with another --stat follow the first one: a table names one statistic. */
static void test_one_statistic(void **state)
{
    (void)state;
    ResultInput file;
    double step, tokens, batch, ctx;
    parse_rows(&file, "x.json", "{\"stat\": \"median\"}", "{\"stat\": \"mean\"}");
    const Record *second = record_set_at(&file.rows, 1);
    assert_string_equal(record_text(second, "stat"), "median");
    assert_true(record_number(second, "step.median_ms", &step));
    assert_true(record_number(second, "batch", &batch) && record_number(second, "ctx", &ctx));
    assert_true(record_number(second, "tokens_per_s", &tokens));
    assert_true(fabs(tokens * step / (1e3 * batch * ctx) - 1) < 1e-9);
    result_input_free(&file);
}

/* Who multiplied is named only where the precision does not tell. */
static void test_labels(void **state)
{
    (void)state;
    static const struct {
        const char *second, *label;
    } cases[] = {
        {"{\"precision\": \"bf16\", \"blas\": \"own\"}", "small, precision bf16"},
        {"{\"precision\": \"fp32\", \"blas\": \"own\"}", "small, blas own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ResultInput file;
        Text label = {0};
        parse_rows(&file, "rows.json", "{\"precision\": \"fp32\", \"blas\": \"BLIS\"}",
                   cases[i].second);
        const RecordSet *rows = &file.kind[RESULT_MODEL];
        result_input_label(&label, rows, record_set_at(rows, 1));
        assert_string_equal(text_str(&label), cases[i].label);
        text_free(&label);
        result_input_free(&file);
    }
}

/* What else had the processors is said once for all cells that it matters to. */
static void test_guests(void **state)
{
    (void)state;
    ResultInput file;
    json_t *data = NULL;
    const PageInput input = {.files = &file, .n_files = 1, .command = "roofstep report"};
    parse_rows(&file, "bench.json", "{\"others_percent\": 45.4, \"stolen_percent\": 1.0}",
               "{\"others_percent\": 2.9, \"stolen_percent\": 7.2}");
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_true(says(data, "Other programs used up to 45 % of CPU time while 1 cell was measured"));
    assert_true(says(
        data, "Other virtual machines used up to 7 % of CPU time while 2 cells were measured"));
    json_decref(data);
    result_input_free(&file);
    parse_rows(&file, "bench.json", "{\"others_percent\": 2.9, \"stolen_percent\": 0.9}", "{}");
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_false(says(data, "of CPU time"));
    json_decref(data);
    result_input_free(&file);
}

/* A peer's row is no cell of ours, and nothing that ours could be changed to. */
static void test_peer(void **state)
{
    (void)state;
    static const char faster[] =
        "\"exec\": \"graph\", \"others_percent\": 50, \"step\": {\"status\": \"ok\", "
        "\"mean_ms\": 1, \"median_ms\": 1, \"samples_ms\": [1, 1]}}";
    static const char *const names[] = {"{", "{\"peer\": \"torch\", \"variant\": \"graphs\", "};
    for (int peer = 0; peer < 2; peer++) {
        ResultInput file;
        json_t *data = NULL;
        char second[300];
        const PageInput input = {.files = &file, .n_files = 1, .command = "roofstep report"};
        snprintf(second, sizeof second, "%s%s", names[peer], faster);
        parse_rows(&file, "bench.json", "{\"exec\": \"fused\"}", second);
        assert_int_equal(page_data_make(&data, &input), ST_OK);
        assert_true(says(data, peer ? "1 cell: 1 ok" : "2 cells: 2 ok"));
        assert_true(says(data, "Biggest win: --exec graph") == !peer);
        assert_true(says(data, "Other programs used up to 50 %") == !peer);
        json_decref(data);
        result_input_free(&file);
    }
}

static void test_nothing_to_compare(void **state)
{
    (void)state;
    static const char refused[] =
        "{\"status\": \"unsupported\", \"forward\": null, \"backward\": null, "
        "\"optimizer\": null, \"step\": null}";
    ResultInput files[2];
    json_t *data = NULL;
    const PageInput input = {.files = files, .n_files = 2, .command = "roofstep report"};
    parse_rows(&files[0], "a.json", refused, refused);
    parse_rows(&files[1], "b.json", refused, refused);
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_true(says(data, "b.json against a.json: nothing was measured in both."));
    json_decref(data);
    for (int i = 0; i < 2; i++) result_input_free(&files[i]);
}

#define CUT(phase) \
    "\"" phase     \
    "\": {\"status\": \"timeout\", \"mean_ms\": 600, \"median_ms\": 600, \"samples_ms\": [600]}"
static const char cut_short[] =
    "{\"status\": \"timeout\", \"message\": \"not done after 2 s\", \"precision\": \"fp32\", " CUT(
        "forward") ", " CUT("step") ", \"tokens_per_s\": null, \"percent_of_limit\": null}";

/* The samples that a row had before its time-out are in the file, and nowhere else. */
static void test_cut_short(void **state)
{
    (void)state;
    ResultInput file;
    json_t *data = NULL;
    const PageInput input = {.files = &file, .n_files = 1, .command = "roofstep report"};
    parse_rows(&file, "bench.json", cut_short, "{\"precision\": \"bf16\"}");
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_false(says(data, "Biggest win"));
    assert_false(says(data, "600"));
    assert_false(says(data, "precision fp32"));
    assert_true(says(data, "Time of small, precision bf16: "));
    assert_int_equal(json_array_size(json_object_get(data, "gaps")), 0);
    json_decref(data);
    result_input_free(&file);
}

/* A profile that ended before there was one is no row of bench: nothing is compared with it, and its absence
 * is told. */
static void test_profile_in_vain(void **state)
{
    (void)state;
    static const char none[] =
        "{\"status\": \"timeout\", \"message\": \"not done after 2 s\", \"profile\": null}";
    ResultInput files[2];
    json_t *data = NULL;
    const PageInput input = {.files = files, .n_files = 2, .command = "roofstep report"};
    parse_rows(&files[0], "bench.json", "{}", "{}");
    parse_rows(&files[1], "profile.json", none, none);
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    assert_null(table_of(data, "comparison"));
    assert_non_null(table_of(data, "profile"));
    assert_false(says(data, "profile.json"));
    assert_true(says(data, "profile measured nothing: small: timeout: not done after 2 s "
                           "(1 more in its table)."));
    const json_t *gap = json_array_get(json_object_get(data, "gaps"), 0);
    assert_string_equal(record_text(gap, "command"), "profile");
    json_decref(data);
    for (int i = 0; i < 2; i++) result_input_free(&files[i]);
}

static void test_refused(void **state)
{
    (void)state;
    ResultInput file;
    assert_int_equal(result_input_read(&file, "golden/results.md"), ST_USAGE);
    result_input_free(&file);
    assert_int_equal(result_input_read(&file, "golden/nowhere.json"), ST_USAGE);
    result_input_free(&file);
}

static void test_page(void **state)
{
    (void)state;
    ResultInput file;
    Text page = {0};
    json_t *gaps =
        json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:s, s:i}]", "part", "sizes", "command", "memory",
                  "why", "no", "part", "bench", "command", "bench", "why", "some", "cut_short", 3);
    const PageInput input = {.files = &file,
                             .n_files = 1,
                             .gaps = gaps,
                             .lines = "One.\nTwo.\n",
                             .command = "roofstep report '</script>'"};
    assert_int_equal(result_input_read(&file, "golden/results.json"), ST_OK);
    const Status status = page_write(&page, &input);
    assert_int_equal(status, page_is_built() ? ST_OK : ST_UNSUPPORTED);
    if (page_is_built()) {
        assert_non_null(strstr(text_str(&page), "\\u003c/script>'"));
        assert_null(strstr(text_str(&page), "'</script>'"));
        assert_null(strstr(text_str(&page), "{{"));
        assert_non_null(strstr(text_str(&page), "\"One.\",\"Two.\"]"));
        assert_non_null(strstr(
            text_str(&page), "\"summary\":[\"Missing: sizes: no.\",\"Incomplete: bench: some.\""));
    }
    text_free(&page);
    json_decref(gaps);
    result_input_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_by_kind), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_comparison),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_page),         cmocka_unit_test(test_one_statistic),
        cmocka_unit_test(test_labels),       cmocka_unit_test(test_peer),
        cmocka_unit_test(test_guests),       cmocka_unit_test(test_nothing_to_compare),
        cmocka_unit_test(test_cut_short),    cmocka_unit_test(test_profile_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
