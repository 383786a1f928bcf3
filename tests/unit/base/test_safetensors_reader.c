#include "base/safetensors_reader.h"
#include "base/text.h"
#include "with_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/roofstep-weights-XXXXXX";

static void put_file(const char *name, const void *data, size_t n)
{
    Text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    assert_int_equal(text_write_file(text_str(&path), data, n), ST_OK);
    text_free(&path);
}

static void remove_files(void)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json",
                                        "a.safetensors", "b.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Text path = {0};
        text_printf(&path, "%s/%s", folder, names[i]);
        unlink(text_str(&path));
        text_free(&path);
    }
}

/* A file of this header, with `length` as its length (0: the header's own), then data. */
static void put_weights(const char *name, const char *header, uint64_t length, const void *data,
                        size_t n)
{
    Text file = {0};
    const uint64_t says = length ? length : strlen(header);
    for (int i = 0; i < 8; i++) text_append(&file, &(char){(char)(says >> (8 * i))}, 1);
    text_puts(&file, header);
    text_append(&file, data, n);
    put_file(name, text_str(&file), file.n);
    text_free(&file);
}

static const float numbers[] = {1, -2.5F, 3, 0.25F};
static const uint16_t bf16[] = {0x3f80, 0xc020}; /* 1, -2.5 */
static const uint16_t f16[] = {0x3c00, 0xc100};  /* 1, -2.5 */

static void each_type_is_read(void **state)
{
    (void)state;
    char data[24];
    memcpy(data, numbers, 16);
    memcpy(data + 16, bf16, 4);
    memcpy(data + 20, f16, 4);
    put_weights("model.safetensors",
                "{\"__metadata__\": {\"format\": \"pt\"},"
                "\"x\": {\"dtype\": \"F32\", \"shape\": [2, 2], \"data_offsets\": [0, 16]},"
                "\"y\": {\"dtype\": \"BF16\", \"shape\": [2], \"data_offsets\": [16, 20]},"
                "\"z\": {\"dtype\": \"F16\", \"shape\": [1, 2], \"data_offsets\": [20, 24]}}",
                0, data, sizeof data);
    SafetensorsReader *reader;
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
    assert_true(safetensors_reader_has(reader, "y") && !safetensors_reader_has(reader, "w"));
    float out[4] = {9, 9, 9, 9};
    assert_int_equal(safetensors_reader_read(reader, "x", 2, (int64_t[]){2, 2}, out), ST_OK);
    assert_memory_equal(out, numbers, sizeof numbers);
    assert_int_equal(safetensors_reader_read(reader, "y", 1, (int64_t[]){2}, out), ST_OK);
    assert_true(out[0] == 1 && out[1] == -2.5F && out[2] == 3);
    assert_int_equal(safetensors_reader_read(reader, "z", 2, (int64_t[]){1, 2}, out), ST_OK);
    assert_true(out[0] == 1 && out[1] == -2.5F);
    assert_int_equal(safetensors_reader_read(reader, "z", 2, (int64_t[]){2, 1}, out), ST_USAGE);
    assert_int_equal(safetensors_reader_read(reader, "w", 1, (int64_t[]){1}, out), ST_USAGE);
    safetensors_reader_close(reader);
    remove_files();
}

static void shards_are_found_by_their_index(void **state)
{
    (void)state;
    put_weights("a.safetensors",
                "{\"x\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 0,
                numbers, 4);
    put_weights("b.safetensors",
                "{\"y\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 0,
                numbers + 1, 4);
    const char *index = "{\"weight_map\": {\"x\": \"a.safetensors\", \"y\": \"b.safetensors\"}}";
    put_file("model.safetensors.index.json", index, strlen(index));
    SafetensorsReader *reader;
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
    float x, y;
    assert_int_equal(safetensors_reader_read(reader, "x", 1, (int64_t[]){1}, &x), ST_OK);
    assert_int_equal(safetensors_reader_read(reader, "y", 1, (int64_t[]){1}, &y), ST_OK);
    assert_true(x == 1 && y == -2.5F);
    safetensors_reader_close(reader);
    remove_files();
}

static void a_folder_without_weights_is_no_error(void **state)
{
    (void)state;
    SafetensorsReader *reader;
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
    assert_null(reader);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        uint64_t length;
    } files[] = {{"{}", 1000}, {"{}", UINT64_MAX}, {"{}", (uint64_t)1 << 40},
                 {"[]", 0},    {"{\"x\"", 0},      {"{\"x\": 1, \"x\": 2}", 0}};
    SafetensorsReader *reader;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put_weights("model.safetensors", files[i].header, files[i].length, "", 0);
        assert_int_equal(safetensors_reader_open(&reader, folder), ST_USAGE);
        assert_null(reader);
    }
    put_file("model.safetensors", "abc", 3);
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_USAGE);
    remove_files();
    static const char *const indexes[] = {"{}",
                                          "[]",
                                          "",
                                          "{\"weight_map\": {\"x\": 3}}",
                                          "{\"weight_map\": {\"x\": \"../../etc/passwd\"}}",
                                          "{\"weight_map\": {\"x\": \"..\"}}"};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        put_file("model.safetensors.index.json", indexes[i], strlen(indexes[i]));
        assert_int_equal(safetensors_reader_open(&reader, folder), ST_USAGE);
    }
    const char *missing = "{\"weight_map\": {\"x\": \"a.safetensors\"}}";
    put_file("model.safetensors.index.json", missing, strlen(missing));
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_USAGE);
    remove_files();
}

/* Entries whose shape, type or place is a lie, for a tensor of two floats in a file of eight bytes. */
static void bad_tensors_are_refused(void **state)
{
    (void)state;
    static const char *const entries[] = {
        "{\"dtype\": \"F64\", \"shape\": [2], \"data_offsets\": [0, 8]}",
        "{\"dtype\": 3, \"shape\": [2], \"data_offsets\": [0, 8]}",
        "{\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 8]}",
        "{\"dtype\": \"F32\", \"shape\": [2, 1], \"data_offsets\": [0, 8]}",
        "{\"dtype\": \"F32\", \"shape\": 2, \"data_offsets\": [0, 8]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 4]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 0]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [4, 12]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [-8, 0]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [9223372036854775800, "
        "9223372036854775807]}",
        "{\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [\"0\", 8]}",
        "{\"dtype\": \"F32\", \"shape\": [2]}",
        "3"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        Text header = {0};
        text_printf(&header, "{\"x\": %s}", entries[i]);
        put_weights("model.safetensors", text_str(&header), 0, numbers, 8);
        text_free(&header);
        SafetensorsReader *reader;
        float out[2];
        assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
        if (safetensors_reader_read(reader, "x", 1, (int64_t[]){2}, out) != ST_USAGE)
            fail_msg("%s is taken", entries[i]);
        safetensors_reader_close(reader);
    }
    remove_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_read),
        cmocka_unit_test(shards_are_found_by_their_index),
        cmocka_unit_test(a_folder_without_weights_is_no_error),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(bad_tensors_are_refused),
    };
    if (!mkdtemp(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
