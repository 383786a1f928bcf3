#include "base/safetensors_reader.h"
#include "base/text.h"
#include "with_cmocka.h"

#include <stdio.h>
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
    size_t i;
    assert_true(safetensors_reader_find(reader, "y", &i) && i == 1);
    assert_false(safetensors_reader_find(reader, "w", &i));
    assert_int_equal(safetensors_reader_count(reader), 3);
    float out[4] = {9, 9, 9, 9};
    assert_int_equal(safetensors_reader_read(reader, "x", 2, (int64_t[]){2, 2}, out), ST_OK);
    assert_memory_equal(out, numbers, sizeof numbers);
    assert_int_equal(safetensors_reader_read(reader, "y", 1, (int64_t[]){2}, out), ST_OK);
    assert_true(out[0] == 1 && out[1] == -2.5F && out[2] == 3);
    assert_int_equal(safetensors_reader_read(reader, "z", 2, (int64_t[]){1, 2}, out), ST_OK);
    assert_true(out[0] == 1 && out[1] == -2.5F);
    assert_int_equal(safetensors_reader_read(reader, "z", 2, (int64_t[]){2, 1}, out), ST_USAGE);
    assert_non_null(strstr(status_message(), "'z' is [1, 2], and the model has [2, 1]"));
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
    put_weights("b.safetensors",
                "{\"x\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 0,
                numbers + 1, 4);
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_USAGE);
    assert_non_null(strstr(status_message(), "index.json': two of its files have the tensor 'x'"));
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

/* The file of this header and of 8 bytes after it. */
static Status open_header(const char *header)
{
    SafetensorsReader *reader;
    put_weights("model.safetensors", header, 0, numbers, 8);
    const Status status = safetensors_reader_open(&reader, folder);
    safetensors_reader_close(reader);
    return status;
}

typedef struct Bad {
    const char *header, *message; /* ' is written for " */
} Bad;

static void assert_refused(const Bad *bad)
{
    char header[400];
    snprintf(header, sizeof header, "%s", bad->header);
    for (char *c = header; *c; c++) {
        if (*c == '\'') *c = '"';
    }
    if (open_header(header) != ST_USAGE) fail_msg("%s is taken", header);
    if (!strstr(status_message(), bad->message) ||
        !strstr(status_message(), "/model.safetensors") ||
        !strstr(status_message(), "download or write it again"))
        fail_msg("%s: %s", header, status_message());
}

#define X(type, shape, offsets) \
    "'x': {'dtype': " type ", 'shape': " shape ", 'data_offsets': " offsets "}"
#define Y(offsets) "'y': {'dtype': 'F32', 'shape': [1], 'data_offsets': " offsets "}"

/* Tensors whose shape, type or place is a lie, in a file that has eight bytes of tensors. */
static void bad_tensors_are_refused(void **state)
{
    (void)state;
    static const Bad all[] = {
        {"{" X("3", "[2]", "[0, 8]") "}", "'x' has no dtype that is known"},
        {"{" X("'F33'", "[2]", "[0, 8]") "}", "'x' has no dtype that is known"},
        {"{" X("'F32'", "[3]", "[0, 8]") "}",
         "'x' has 8 bytes, which is not what [3] of F32 takes"},
        {"{" X("'F32'", "2", "[0, 8]") "}", "'x' has no shape"},
        {"{" X("'F32'", "[-2]", "[0, 8]") "}", "the shape of 'x' is not of whole numbers"},
        {"{" X("'F32'", "[1,1,1,1,1,1,1,1,2]", "[0, 8]") "}", "9 dimensions"},
        {"{" X("'F32'", "[4294967296, 4294967296]", "[0, 0]") "}", "takes"},
        {"{" X("'F4'", "[3]", "[0, 1]") "}", "'x' has 1 bytes"},
        {"{" X("'F32'", "[2]", "[8, 0]") "}", "data_offsets"},
        {"{" X("'F32'", "[2]", "[-8, 0]") "}", "data_offsets"},
        {"{" X("'F32'", "[2]", "['0', 8]") "}", "data_offsets"},
        {"{" X("'F32'", "[2]", "[0, 8, 9]") "}", "data_offsets"},
        {"{'x': {'dtype': 'F32', 'shape': [2]}}", "data_offsets"},
        {"{'x': 3}", "dtype"},
        {"{'__metadata__': {'a': 1}, " X("'F32'", "[2]", "[0, 8]") "}", "'a' in its metadata"},
        {"{'__metadata__': 1, " X("'F32'", "[2]", "[0, 8]") "}", "its metadata is not an object"},
        {" {" X("'F32'", "[2]", "[0, 8]") "}", "its header is not a JSON object"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_refused(&all[i]);
    assert_int_equal(open_header("{\"x\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\":"
                                 " [0, 8]}}   "),
                     ST_OK);
    remove_files();
}

/* Every byte after the header is of one tensor, as the reference implementation wants it. */
static void bytes_of_no_tensor_or_of_two_are_refused(void **state)
{
    (void)state;
    static const Bad all[] = {
        {"{" X("'F32'", "[3]", "[0, 12]") "}",
         "it is cut off: its tensors take 12 bytes, and 8 are there"},
        {"{" X("'F32'", "[2]", "[9223372036854775799, 9223372036854775807]") "}", "of no tensor"},
        {"{" X("'F32'", "[1]", "[0, 4]") "}", "4 bytes after its last tensor are of none"},
        {"{}", "8 bytes after its last tensor are of none"},
        {"{" X("'F16'", "[1]", "[0, 2]") ", " Y("[4, 8]") "}",
         "the bytes 2 to 4 before 'y' are of no tensor"},
        {"{" Y("[4, 8]") "}", "the bytes 0 to 4 before 'y' are of no tensor"},
        {"{" X("'F32'", "[2]", "[0, 8]") ", " Y("[4, 8]") "}",
         "'y' begins at byte 4, and 'x' ends at 8: tensors overlap"},
        {"{" X("'F32'", "[1]", "[0, 4]") ", " Y("[0, 4]") "}", "tensors overlap"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_refused(&all[i]);
    remove_files();
}

static void types_that_are_not_floats_are_not_read(void **state)
{
    (void)state;
    float out[2];
    SafetensorsReader *reader;
    put_weights("model.safetensors",
                "{\"x\": {\"dtype\": \"F64\", \"shape\": [1], \"data_offsets\": [0, 8]}}", 0,
                numbers, 8);
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
    assert_int_equal(safetensors_reader_read(reader, "x", 1, (int64_t[]){1}, out), ST_USAGE);
    assert_non_null(strstr(status_message(), "'x' is F64; F32, F16 and BF16 are read"));
    safetensors_reader_close(reader);
    remove_files();
}

static void tensors_are_compared_by_their_bytes(void **state)
{
    (void)state;
    static const float same[] = {1, 2, 1, 2, 1, 3};
    SafetensorsReader *reader;
    put_weights("model.safetensors",
                "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]},"
                "\"b\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 16]},"
                "\"c\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [16, 24]}}",
                0, same, sizeof same);
    assert_int_equal(safetensors_reader_open(&reader, folder), ST_OK);
    bool equal = false;
    assert_int_equal(safetensors_reader_equal(reader, 0, 1, &equal), ST_OK);
    assert_true(equal);
    assert_int_equal(safetensors_reader_equal(reader, 0, 2, &equal), ST_OK);
    assert_false(equal);
    safetensors_reader_close(reader);
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
        cmocka_unit_test(bytes_of_no_tensor_or_of_two_are_refused),
        cmocka_unit_test(types_that_are_not_floats_are_not_read),
        cmocka_unit_test(tensors_are_compared_by_their_bytes),
    };
    if (!mkdtemp(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
