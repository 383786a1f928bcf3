/* Which files a sweep writes, and that resuming drops no row. */
#include "cli/commands/bench_output.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void gzip_is_not_appended_to(void **state)
{
    Settings settings = {.resume = "old.json.gz"};
    (void)state;
    assert_int_equal(bench_output_check(&settings), ST_USAGE);
    settings.out_json = "new.json";
    assert_int_equal(bench_output_check(&settings), ST_OK);
    settings = (Settings){.resume = "old.json"};
    assert_int_equal(bench_output_check(&settings), ST_OK);
}

static void add_row(RecordSet *set, int64_t steps, RecordStatus status)
{
    Config config;
    char key[RECORD_KEY_SIZE];
    config_defaults(&config);
    config.steps = steps;
    record_key_of_config(&config, key);
    Record *record = json_pack("{s:s, s:I}", "cell", key, "steps", (json_int_t)steps);
    assert_int_equal(record_put_status(record, status, "why"), ST_OK);
    assert_int_equal(record_set_add(set, record), ST_OK);
    json_decref(record);
}

static void one_file_has_one_format(void **state)
{
    Settings settings = {.format = "csv", .out = "/nonexistent/x", .out_json = "/nonexistent/x"};
    BenchOutput output;
    RecordSet none;
    (void)state;
    assert_int_equal(record_set_init(&none, NULL), ST_OK);
    assert_int_equal(bench_output_open(&output, &settings, &none), ST_USAGE);
    assert_non_null(strstr(status_message(), "cannot hold both"));
    record_set_free(&none);
}

/* A row that runs again replaces its old record; rows that are not in the sweep stay. */
static void resuming_drops_no_row(void **state)
{
    char folder[] = "/tmp/bench_output_XXXXXX", path[64];
    BenchOutput output;
    RecordSet known, rows;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/old.json", folder);
    const Settings settings = {.format = "md", .resume = path};
    json_t *environment = json_pack("{s:s}", "id", "0123456789ab");
    assert_int_equal(record_set_init(&known, environment), ST_OK);
    assert_int_equal(record_set_init(&rows, environment), ST_OK);
    json_decref(environment);
    add_row(&known, 7, RECORD_OK);
    add_row(&known, 8, RECORD_FAILED);
    add_row(&rows, 8, RECORD_OK);
    assert_int_equal(bench_output_open(&output, &settings, &known), ST_OK);
    assert_int_equal(bench_output_finish(&output, &rows, &known), ST_OK);
    bench_output_close(&output);
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *results = json_object_get(root, "results");
    assert_int_equal(json_array_size(results), 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(record_text(json_array_get(results, i), "status"), "ok");
    json_decref(root);
    record_set_free(&known);
    record_set_free(&rows);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_not_appended_to),
        cmocka_unit_test(one_file_has_one_format),
        cmocka_unit_test(resuming_drops_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
