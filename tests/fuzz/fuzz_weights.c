/* A folder of safetensors files, whose headers may lie. A file that begins with { gets the eight
 * bytes of its length, the first line, and as many bytes after it as its tensors take, so that
 * changes of the JSON are not all refused for that; others are taken as they are. */
#include "base/safetensors_reader.h"
#include "base/text.h"
#include "harness.h"
#include "model/file_tensor.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 4, MOST_ELEMENTS = 1 << 16 };

static const unsigned refusals = HARNESS_MAY(USAGE) | HARNESS_MAY(IO) | HARNESS_MAY(NO_MEMORY);

static size_t header_length(const uint8_t *data, size_t n)
{
    const uint8_t *line = memchr(data, '\n', n);
    return line ? (size_t)(line - data) + 1 : n;
}

/* Where the last tensor of a header ends; `n` where that is no length to make. */
static size_t data_length(const uint8_t *header, size_t length, size_t n)
{
    json_t *root = json_loadb((const char *)header, length, 0, NULL);
    json_int_t last = -1;
    const char *name;
    json_t *entry;
    json_object_foreach(root, name, entry)
    {
        const json_t *end = json_array_get(json_object_get(entry, "data_offsets"), 1);
        if (json_integer_value(end) > last) last = json_integer_value(end);
    }
    json_decref(root);
    return last >= 0 && last <= MOST_ELEMENTS ? (size_t)last : n;
}

static void put(void *self, const char *name, const uint8_t *data, size_t n)
{
    (void)self;
    if (!*name) return;
    const size_t dot = strlen(name);
    const bool is_json = dot > 5 && strcmp(name + dot - 5, ".json") == 0;
    if (n == 0 || data[0] != '{' || is_json) {
        harness_put(name, data, n);
        return;
    }
    Text file = {0};
    const size_t length = header_length(data, n), there = n - length;
    const size_t wanted = data_length(data, length, there);
    for (int i = 0; i < 8; i++) {
        const char byte = (char)((uint64_t)length >> 8 * i & 0xff);
        text_append(&file, &byte, 1);
    }
    text_append(&file, (const char *)data, length + (wanted < there ? wanted : there));
    for (size_t i = there; i < wanted; i++) text_append(&file, "x", 1);
    harness_put(name, text_str(&file), file.n);
    text_free(&file);
}

/* The shape that a header gives, where it is one that a program would ask for. */
static int shape_of(const json_t *entry, int64_t dim[MOST_DIMS])
{
    const json_t *shape = json_object_get(entry, "shape");
    const size_t n = json_array_size(shape);
    int64_t elements = 1;
    if (n > MOST_DIMS) return -1;
    for (size_t i = 0; i < n; i++) {
        dim[i] = json_integer_value(json_array_get(shape, i));
        if (dim[i] < 1 || dim[i] > MOST_ELEMENTS || (elements *= dim[i]) > MOST_ELEMENTS) return -1;
    }
    return (int)n;
}

/* Into memory of just that many floats: the sanitizer sees what is written beyond. */
static void read_tensor(const SafetensorsReader *reader, const char *name, int n_dims,
                        const int64_t *dim)
{
    size_t n = 1;
    for (int i = 0; i < n_dims; i++) n *= (size_t)dim[i];
    float *out = malloc(n * sizeof *out);
    if (!out) return;
    harness_forget();
    const bool taken =
        harness_taken(safetensors_reader_read(reader, name, n_dims, dim, out), refusals);
    size_t i;
    if (taken && !safetensors_reader_find(reader, name, &i))
        harness_fail("it reads what is not there");
    free(out);
}

/* The tensors of a header, each as it says and in another shape. */
static void read_all(void *self, const char *name, const uint8_t *data, size_t n)
{
    const SafetensorsReader *reader = self;
    (void)name;
    json_t *header = json_loadb((const char *)data, header_length(data, n), 0, NULL);
    const char *tensor;
    json_t *entry;
    json_object_foreach(header, tensor, entry)
    {
        int64_t dim[MOST_DIMS];
        const int n_dims = shape_of(entry, dim);
        if (n_dims >= 0) read_tensor(reader, tensor, n_dims, dim);
        read_tensor(reader, tensor, 2, (const int64_t[]){2, 3});
    }
    json_decref(header);
}

/* Each with the one before it; and what each is by its name. */
static void compare_all(const SafetensorsReader *reader)
{
    bool equal;
    for (size_t i = 0; i < safetensors_reader_count(reader); i++) {
        for (int a = ARCHITECTURE_OWN + 1; a < ARCHITECTURE_COUNT; a++)
            file_tensor_identify((Architecture)a, safetensors_reader_entry(reader, i)->name);
    }
    for (size_t i = 1; i < safetensors_reader_count(reader); i++)
        harness_taken(safetensors_reader_equal(reader, i - 1, i, &equal), refusals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    SafetensorsReader *reader = NULL;
    harness_folder();
    harness_split(data, n, put, NULL);
    harness_forget();
    if (harness_taken(safetensors_reader_open(&reader, harness_folder()), refusals) && reader) {
        harness_split(data, n, read_all, reader);
        compare_all(reader);
        read_tensor(reader, "no such tensor", 1, (const int64_t[]){1});
    }
    safetensors_reader_close(reader);
    harness_clear();
    return 0;
}
