#include "base/rng.h"
#include "bench/record/record_file.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/roofstep-test-XXXXXX";
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/results", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static Status write_set(const RecordSet *set, bool jsonl)
{
    CLEANUP(text_free) Text text = {0};
    TRY(jsonl ? record_file_jsonl(&text, set) : record_file_json(&text, set));
    return text_write_file(path, text_str(&text), text.n);
}

static Status read_bytes(RecordSet *set, const char *bytes, size_t n, bool *torn)
{
    assert_int_equal(record_set_init(set, NULL), ST_OK);
    char *copy = malloc(n ? n : 1); /* exactly as long: the sanitizer sees who reads on */
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    const Status status = record_file_parse(set, copy, n, path, torn);
    free(copy);
    return status;
}

#define MODEL                                                                            \
    "\"size\":\"tiny\",\"d_model\":512,\"d_ff\":1344,\"num_layers\":4,\"num_heads\":16," \
    "\"vocab\":100,\"ctx\":8,\"batch\":1,\"device\":\"cpu\",\"precision\":\"fp32\","     \
    "\"mode\":\"train\",\"attention\":\"fused\",\"exec\":\"fused\",\"warmup\":0,\"steps\":1"
#define KILLED           "{" MODEL ",\"status\":\"killed\"}"
#define FILE_OF(results) "{\"schema\":1,\"environment\":{\"id\":\"e\"},\"results\":" results "}"
#define RESULT(rest)     FILE_OF("[{" MODEL "," rest "}]")
#define LINE             "{\"schema\":1,\"environment\":{\"id\":\"e\"}}\n"

/* ---- what is wrong with a file, and what is said about it ---- */

static const struct {
    const char *bytes, *message;
} malformed[] = {
    {"", "the file is empty; delete it or name another"},
    {" \n\n\t ", "the file is empty"},
    {"hello\n", "line 1, column 5: not JSON"},
    {"\xff\xfe\x00\x01", "line 1: not UTF-8"},
    {"{\"schema\":1,\"a\":\"\xc3\x28\"}", "line 1: not UTF-8"},
    {"{\n\"schema\": 1,\n\"environment\": {\"id\": \"e\"},\n\"results\": [\n",
     "line 5: the file is cut short; use a whole copy"},
    {"{\"schema\":1,\"environment\":{\"id\":\"e", "line 1: the file is cut short"},
    {"[1, 2, 3]", "not a result file: expected an object"},
    {"12", "not JSON"},
    {"{}", "the first line must hold 'schema' and 'environment'"},
    {"{\n}", "no 'schema': not a result file"},
    {"{\"results\":[]}", "no 'schema': not a result file"},
    {"{\"schema\":\"1\",\"environment\":{\"id\":\"e\"},\"results\":[]}",
     "'schema' must be the number 1"},
    {"{\"schema\":2,\"environment\":{\"id\":\"e\"},\"results\":[]}",
     "schema 2, but this program reads schema 1; use the version that wrote it"},
    {"{\"schema\":1,\"results\":[]}", "'environment' is missing"},
    {"{\"schema\":1,\"environment\":\"here\",\"results\":[]}", "'environment' must be an object"},
    {"{\"schema\":1,\"environment\":{},\"results\":[]}", "'environment' has no 'id'"},
    {"{\n\"schema\":1,\"environment\":{\"id\":\"e\"}}", "'results' is missing"},
    {FILE_OF("{}"), "'results' must be an array"},
    {FILE_OF("[7]"), "result 1: a result must be an object"},
    {FILE_OF("[" KILLED ", {}]"), "result 2: 'size' is missing"},
    {RESULT("\"status\":\"fine\""), "result 1: 'status' must be one of ok, oom,"},
    {RESULT("\"status\":\"ok\""), "'status' is ok but no phase was measured"},
    {RESULT("\"status\":\"ok\",\"step\":{\"status\":\"ok\"}"), "'step.mean_ms' is missing"},
    {RESULT("\"status\":\"ok\",\"step\":{\"status\":\"ok\",\"mean_ms\":-1}"),
     "'step.mean_ms' must be a number, 0 or more"},
    {RESULT("\"status\":\"ok\",\"step\":[]"), "'step' must be an object"},
    {RESULT("\"status\":\"killed\",\"step\":{\"status\":\"ok\",\"mean_ms\":1,\"samples_ms\":[1,"
            "\"2\"]}"),
     "'step.samples_ms' must be an array of numbers"},
    {RESULT("\"status\":\"killed\",\"parameters\":1.5"),
     "'parameters' must be a whole number above 0"},
    {RESULT("\"status\":\"killed\",\"message\":3"), "'message' must be a text"},
    {RESULT("\"status\":\"killed\",\"loss\":1e999"), "not JSON: real number overflow"},
    {RESULT("\"status\":\"killed\",\"seed\":99999999999999999999"), "too big integer"},
    {RESULT("\"status\":\"killed\",\"environment_id\":\"x\""),
     "its environment 'x' is not in the file"},
    {RESULT("\"status\":\"killed\",\"status\":\"ok\""), "duplicate object key"},
    {RESULT("\"status\":\"killed\"") "x", "end of file expected"},
    {LINE KILLED "\n{\"size\n" KILLED "\n", "line 3: the line is cut short; delete the line"},
    {LINE "\n" KILLED "\n{}\n", "line 4: 'size' is missing"},
    {LINE "[1]\n", "line 2: a result must be an object"},
    {KILLED "\n" KILLED "\n", "line 1: the first line must hold 'schema' and 'environment'"},
    {"{\"schema\":3,\"environment\":{\"id\":\"e\"}}\n", "line 1: schema 3"},
};

static void check_message(const char *expected)
{
    const char *message = status_message();
    if (strncmp(message, path, strlen(path)) != 0) fail_msg("'%s' does not name the file", message);
    if (!strstr(message, expected)) fail_msg("'%s' does not say '%s'", message, expected);
    assert_null(strpbrk(message, "\n\r"));
}

static void malformed_files_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        RecordSet set;
        const char *bytes = malformed[i].bytes;
        const size_t n = bytes[0] == '\xff' ? 4 : strlen(bytes);
        assert_int_equal(read_bytes(&set, bytes, n, NULL), ST_USAGE);
        check_message(malformed[i].message);
        assert_int_equal(record_set_size(&set), 0);
        record_set_free(&set);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    RecordSet set;
    char *bytes = malloc(DEPTH);
    assert_non_null(bytes);
    memset(bytes, '[', DEPTH);
    assert_int_equal(read_bytes(&set, bytes, DEPTH, NULL), ST_USAGE);
    check_message("nested too deeply");
    record_set_free(&set);
    free(bytes);
}

static void what_is_no_file_is_explained(void **state)
{
    (void)state;
    RecordSet set;
    assert_int_equal(record_set_init(&set, NULL), ST_OK);
    assert_int_not_equal(record_file_read(&set, folder, NULL), ST_OK);
    assert_non_null(strstr(status_message(), "it is a folder"));
    assert_int_not_equal(record_file_read(&set, "/nonexistent/file", NULL), ST_OK);
    assert_non_null(strstr(status_message(), "/nonexistent/file"));
    record_set_free(&set);
}

/* ---- whole files ---- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (int jsonl = 0; jsonl <= 1; jsonl++) {
        RecordSet first, second;
        Text a = {0}, b = {0};
        bool torn = true;
        assert_int_equal(record_set_init(&first, NULL), ST_OK);
        assert_int_equal(record_set_init(&second, NULL), ST_OK);
        assert_int_equal(record_file_read(&first, "golden/results.json", NULL), ST_OK);
        assert_int_equal(write_set(&first, jsonl), ST_OK);
        assert_int_equal(record_file_read(&second, path, &torn), ST_OK);
        assert_false(torn);
        assert_int_equal(record_set_size(&second), 6);
        assert_int_equal(record_file_json(&a, &first), ST_OK);
        assert_int_equal(record_file_json(&b, &second), ST_OK);
        assert_string_equal(text_str(&a), text_str(&b));
        text_free(&a);
        text_free(&b);
        record_set_free(&first);
        record_set_free(&second);
    }
}

static void a_torn_last_line_is_left_out(void **state)
{
    (void)state;
    static const char whole[] = LINE KILLED "\n" KILLED "\n";
    const size_t start = strlen(LINE KILLED "\n");
    for (size_t n = start; n <= strlen(whole); n++) {
        RecordSet set;
        bool torn;
        assert_int_equal(read_bytes(&set, whole, n, &torn), ST_OK);
        /* Whole but for its line break, it counts. */
        const bool second = n >= strlen(whole) - 1;
        assert_int_equal(record_set_size(&set), second ? 2 : 1);
        assert_int_equal(torn, n > start && !second);
        record_set_free(&set);
    }
}

static void files_of_several_runs_keep_their_environments(void **state)
{
    (void)state;
    static const char other[] = "{\"schema\":1,\"environment\":{\"id\":\"f\",\"cpu\":\"F\"}}\n";
    char bytes[2048];
    RecordSet set, again;
    snprintf(bytes, sizeof bytes, "%s%s\n%s%s\n", LINE, KILLED, other, KILLED);
    assert_int_equal(read_bytes(&set, bytes, strlen(bytes), NULL), ST_OK);
    assert_string_equal(record_text(record_set_at(&set, 0), "environment_id"), "e");
    assert_string_equal(record_text(record_set_at(&set, 1), "environment_id"), "f");
    assert_int_equal(write_set(&set, false), ST_OK);
    assert_int_equal(record_set_init(&again, NULL), ST_OK);
    assert_int_equal(record_file_read(&again, path, NULL), ST_OK);
    const json_t *found = record_set_environment(&again, record_set_at(&again, 1));
    assert_string_equal(record_text(found, "cpu"), "F");
    record_set_free(&set);
    record_set_free(&again);
}

static void the_last_of_equal_cells_is_found(void **state)
{
    (void)state;
    RecordSet set;
    json_t *environment = json_pack("{s:s}", "id", "here");
    Config config;
    char key[RECORD_KEY_SIZE];
    config_defaults(&config);
    record_key_of_config(&config, key);
    assert_int_equal(record_set_init(&set, environment), ST_OK);
    json_decref(environment);
    for (int i = 0; i < 2; i++) {
        Record *record;
        assert_int_equal(record_new(&record, &config), ST_OK);
        assert_int_equal(record_set_add(&set, record), ST_OK);
        assert_string_equal(record_text(record, "environment_id"), "here");
        json_decref(record);
    }
    assert_ptr_equal(record_set_find(&set, key), record_set_at(&set, 1));
    assert_null(record_set_find(&set, "size=none"));
    record_set_free(&set);
}

/* ---- fuzzing: mutations of valid files, always the same ones ---- */

typedef struct Dice {
    uint64_t index;
} Dice;

static size_t below(Dice *dice, size_t n)
{
    return (size_t)rng_below(20240501, 1, dice->index++, (int64_t)n);
}

static size_t mutate(Dice *dice, char *bytes, size_t n)
{
    static const char *const pieces[] = {"null", "-1", "1e308", "\"\"", "[", "}", ",",
                                         "\n",   "{}", "true",  "\xff", "0", ":", "\\u0000"};
    const size_t at = below(dice, n);
    switch (below(dice, 5)) {
    case 0:
        bytes[at] = (char)below(dice, 256);
        return n;
    case 1: /* cut off */
        return at > 0 ? at : 1;
    case 2: { /* overwrite with a piece of JSON */
        const char *piece = pieces[below(dice, sizeof pieces / sizeof *pieces)];
        const size_t length = strlen(piece);
        if (at + length <= n) memcpy(bytes + at, piece, length);
        return n;
    }
    case 3: { /* take a stretch out */
        const size_t length = below(dice, n - at < 64 ? n - at + 1 : 64);
        memmove(bytes + at, bytes + at + length, n - at - length);
        return n - length > 0 ? n - length : 1;
    }
    default: { /* put one part over another */
        const size_t from = below(dice, n), room = n - (from > at ? from : at);
        memmove(bytes + at, bytes + from, below(dice, room + 1));
        return n;
    }
    }
}

static void mutated_files_are_read_or_explained(void **state)
{
    (void)state;
    enum { ROUNDS = 10000 };
    static const char document[] =
        RESULT("\"status\":\"ok\",\"step\":{\"status\":\"ok\",\"mean_ms\":2.5,"
               "\"samples_ms\":[2,3]},\"warnings\":[\"w\"],\"loss\":null");
    static const char lines[] = LINE KILLED "\n" KILLED "\n";
    Dice dice = {0};
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char bytes[sizeof document + sizeof lines];
        const char *valid = i % 2 ? lines : document;
        size_t n = strlen(valid);
        memcpy(bytes, valid, n);
        for (size_t times = 1 + below(&dice, 3); times-- > 0;) n = mutate(&dice, bytes, n);
        RecordSet set;
        const Status status = read_bytes(&set, bytes, n, NULL);
        if (status == ST_OK) {
            read++;
        } else {
            assert_int_equal(status, ST_USAGE);
            check_message("");
            assert_int_equal(record_set_size(&set), 0);
        }
        record_set_free(&set);
    }
    assert_in_range(read, ROUNDS / 50, ROUNDS / 2); /* both outcomes are tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_files_are_explained),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(what_is_no_file_is_explained),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_torn_last_line_is_left_out),
        cmocka_unit_test(files_of_several_runs_keep_their_environments),
        cmocka_unit_test(the_last_of_equal_cells_is_found),
        cmocka_unit_test(mutated_files_are_read_or_explained),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
