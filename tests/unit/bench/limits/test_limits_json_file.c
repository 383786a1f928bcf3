/* Files of another machine's limits: whole, packed, cut short, and with bytes changed. */
#include "base/gzip_file.h"
#include "base/rng.h"
#include "bench/limits/limits_json.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char whole[] = "../docs/results/h200-limits.json";
static char folder[64] = "/tmp/roofstep-limits-XXXXXX", path[96];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/limits.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static Text read_whole(void)
{
    Text text = {0};
    assert_int_equal(text_read_file(&text, whole, 1 << 20), ST_OK);
    return text;
}

static Status read_bytes(const void *bytes, size_t n, Limits *limits)
{
    FILE *file = fopen(path, "wb"); /* not synced: there are many */
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return limits_json_read_file(limits, path);
}

/* ST_USAGE, and a message that names the file. */
static void check_refused(Status status)
{
    assert_int_equal(status, ST_USAGE);
    assert_non_null(strstr(status_message(), path));
    assert_true(strlen(status_message()) < 600);
}

static void test_whole(void **state)
{
    (void)state;
    Limits limits;
    assert_int_equal(limits_json_read_file(&limits, whole), ST_OK);
    assert_string_equal(limits_device_name(&limits).s, "NVIDIA H200");
    assert_true(limits_peak_flops(&limits, PRECISION_BF16) > 5e14);
    assert_int_equal(limits.memory_bytes, 0); /* it is of before they were written */
}

static void test_packed(void **state)
{
    (void)state;
    Text text = read_whole();
    char packed[112];
    GzipFile file;
    Limits limits;
    snprintf(packed, sizeof packed, "%s.gz", path);
    assert_int_equal(gzip_file_open(&file, packed), ST_OK);
    text_append(&file.text, text_str(&text), text.n);
    assert_int_equal(gzip_file_finish(&file), ST_OK);
    assert_int_equal(limits_json_read_file(&limits, packed), ST_OK);
    assert_string_equal(limits_device_name(&limits).s, "NVIDIA H200");
    unlink(packed);
    text_free(&text);
}

/* What this program writes has the device's memory, caches and capability, and is read again. */
static void test_what_is_written(void **state)
{
    (void)state;
    Limits limits, back;
    json_t *json = NULL;
    assert_int_equal(limits_json_read_file(&limits, whole), ST_OK);
    limits.memory_bytes = INT64_C(150) << 30;
    limits.cache_bytes = 50 << 20;
    limits.capability = 90;
    assert_int_equal(limits_json_encode(&json, &limits), ST_OK);
    char *text = json_dumps(json, 0);
    assert_int_equal(read_bytes(text, strlen(text), &back), ST_OK);
    assert_true(back.memory_bytes == limits.memory_bytes);
    assert_true(back.cache_bytes == limits.cache_bytes && back.capability == 90);
    json_object_set_new(json, "memory_bytes", json_integer(-1));
    free(text);
    text = json_dumps(json, 0);
    check_refused(read_bytes(text, strlen(text), &back));
    free(text);
    json_decref(json);
}

static void test_cut_short(void **state)
{
    (void)state;
    Text text = read_whole();
    size_t end = text.n;
    Limits limits;
    while (end > 0 && text_str(&text)[end - 1] != '}') end--;
    for (size_t n = 0; n < end; n += n < 200 ? 1 : 37)
        check_refused(read_bytes(text_str(&text), n, &limits));
    text_free(&text);
}

/* A changed digit may be a rate still; nothing else happens than a refusal in words. */
static void test_garbled(void **state)
{
    (void)state;
    enum { TURNS = 2000 };
    int refused = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        Text text = read_whole();
        Limits limits;
        for (int k = 0; k <= turn % 4; k++) {
            const uint64_t at = (uint64_t)(8 * turn + 2 * k);
            const int64_t i = rng_below(7, 0, at, (int64_t)text.n);
            text.data[i] = (char)rng_below(7, 0, at + 1, 256);
        }
        const Status status = read_bytes(text_str(&text), text.n, &limits);
        if (status != ST_OK) check_refused(status);
        refused += status != ST_OK;
        text_free(&text);
    }
    assert_true(refused > TURNS / 2);
}

static void test_other_files(void **state)
{
    (void)state;
    static const char *const files[] = {
        "",
        "[]",
        "{}",
        "{\"schema\": 1, \"key\": {}, \"limits\": {}}",
        "{\"schema\": 2, \"key\": {\"cpu\": \"x\", \"blas\": \"y\", \"version\": \"z\"}, "
        "\"time_utc\": \"\", \"seconds\": 1, \"steal\": 0, \"others\": 0, \"limits\": {}}",
        "{\"schema\": 1, \"key\": {\"cpu\": \"x\", \"cores\": 1, \"threads\": 2147483647, "
        "\"blas\": \"y\", \"version\": \"z\"}, "
        "\"time_utc\": \"\", \"seconds\": 1, \"steal\": 0, \"others\": 0, \"limits\": {}}",
        "{\"schema\": 1, \"key\": {\"cpu\": \"x\", \"cores\": 1, \"threads\": 0, "
        "\"blas\": \"y\", \"version\": \"z\"}, "
        "\"time_utc\": \"\", \"seconds\": 1, \"steal\": 0, \"others\": 0, \"limits\": {}}",
        "{\"schema\": 1, \"key\": {\"cpu\": \"x\", \"cores\": -1, \"threads\": 1, "
        "\"blas\": \"y\", \"version\": \"z\"}, "
        "\"time_utc\": \"\", \"seconds\": 1, \"steal\": 0, \"others\": 0, \"limits\": {}}",
        "{\"schema\": 1, \"key\": {\"cpu\": \"x\", \"cores\": 1, \"threads\": 1, "
        "\"blas\": \"y\", \"version\": \"z\"}, "
        "\"time_utc\": \"\", \"seconds\": 1, \"steal\": 0, \"others\": 0, \"limits\": {}}"};
    Limits limits;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_refused(read_bytes(files[i], strlen(files[i]), &limits));
    assert_non_null(strstr(status_message(), "no rate of a matmul"));
    check_refused(read_bytes(files[5], strlen(files[5]), &limits));
    assert_non_null(strstr(status_message(), "1 to 65536"));
    assert_int_equal(limits_json_read_file(&limits, folder), ST_USAGE);
    assert_int_equal(limits_json_read_file(&limits, "/nonexistent"), ST_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),       cmocka_unit_test(test_packed),
        cmocka_unit_test(test_cut_short),   cmocka_unit_test(test_garbled),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_what_is_written),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
