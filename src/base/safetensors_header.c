#include "base/safetensors_header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bits;
} types[] = {
    {"F32", 32},        {"F16", 16},        {"BF16", 16},   {"F64", 64},    {"BOOL", 8},
    {"U8", 8},          {"I8", 8},          {"U16", 16},    {"I16", 16},    {"U32", 32},
    {"I32", 32},        {"U64", 64},        {"I64", 64},    {"C64", 64},    {"F4", 4},
    {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
};

/* What `fmt` says of a file, and what to do. */
static Status wrong(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static Status wrong(const char *path, const char *fmt, ...)
{
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return FAIL(ST_USAGE, "%s: %s; download or write it again", human_path(path).s, message);
}

HumanQuote safetensors_header_shape(int n_dims, const int64_t *dim)
{
    HumanQuote text = {"["};
    size_t n = 1;
    for (int i = 0; i < n_dims && n < sizeof text.s; i++)
        n += (size_t)snprintf(text.s + n, sizeof text.s - n, "%s%" PRId64, i ? ", " : "", dim[i]);
    if (n < sizeof text.s) snprintf(text.s + n, sizeof text.s - n, "]");
    return text;
}

/* ---- one tensor ---- */

static Status read_shape(const json_t *shape, const char *path, SafetensorsEntry *entry)
{
    const size_t n = json_array_size(shape);
    if (!json_is_array(shape)) return wrong(path, "%s has no shape", human_quote(entry->name).s);
    if (n > SAFETENSORS_HEADER_DIMS)
        return wrong(path, "%s has %zu dimensions, more than %d", human_quote(entry->name).s, n,
                     SAFETENSORS_HEADER_DIMS);
    entry->n_dims = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(shape, i);
        entry->dim[i] = json_integer_value(value);
        if (!json_is_integer(value) || entry->dim[i] < 0)
            return wrong(path, "the shape of %s is not of whole numbers",
                         human_quote(entry->name).s);
    }
    return ST_OK;
}

/* Its bytes by shape and type; false: they are too many, or no whole number. */
static bool count_bytes(const SafetensorsEntry *entry, unsigned bits, uint64_t *bytes)
{
    uint64_t n = bits;
    for (int i = 0; i < entry->n_dims; i++) {
        if (__builtin_mul_overflow(n, (uint64_t)entry->dim[i], &n)) return false;
    }
    *bytes = n / 8;
    return n % 8 == 0;
}

static Status read_type(const json_t *value, const char *path, SafetensorsEntry *entry,
                        unsigned *bits)
{
    const char *type = json_string_value(value);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, type) != 0) continue;
        entry->dtype = types[i].name;
        *bits = types[i].bits;
        return ST_OK;
    }
    return wrong(path, "%s has no dtype that is known", human_quote(entry->name).s);
}

static Status read_entry(const json_t *object, const char *path, SafetensorsEntry *entry)
{
    const json_t *offsets = json_object_get(object, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    const json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    unsigned bits = 0;
    uint64_t bytes = 0;
    TRY(read_type(json_object_get(object, "dtype"), path, entry, &bits));
    TRY(read_shape(json_object_get(object, "shape"), path, entry));
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last) ||
        begin < 0 || end < begin)
        return wrong(path,
                     "%s has no data_offsets of two numbers, the first one not above the"
                     " second",
                     human_quote(entry->name).s);
    entry->begin = (uint64_t)begin;
    entry->end = (uint64_t)end;
    if (count_bytes(entry, bits, &bytes) && entry->end - entry->begin == bytes) return ST_OK;
    return wrong(path, "%s has %" PRIu64 " bytes, which is not what %s of %s takes",
                 human_quote(entry->name).s, entry->end - entry->begin,
                 safetensors_header_shape(entry->n_dims, entry->dim).s, entry->dtype);
}

/* ---- all of them ---- */

static Status check_metadata(const json_t *metadata, const char *path)
{
    const char *name;
    json_t *value;
    if (metadata && !json_is_object(metadata)) return wrong(path, "its metadata is not an object");
    json_object_foreach((json_t *)metadata, name, value)
    {
        if (!json_is_string(value))
            return wrong(path, "%s in its metadata is not a string", human_quote(name).s);
    }
    return ST_OK;
}

static int compare_places(const void *a, const void *b)
{
    const SafetensorsEntry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* One tensor after the other, from the first byte to the last. */
static Status check_places(const SafetensorsEntry *entries, size_t n, const char *path,
                           uint64_t size)
{
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const SafetensorsEntry *entry = &entries[i];
        if (entry->begin < at)
            return wrong(
                path, "%s begins at byte %" PRIu64 ", and %s ends at %" PRIu64 ": tensors overlap",
                human_quote(entry->name).s, entry->begin, human_quote(entry[-1].name).s, at);
        if (entry->begin > at)
            return wrong(path, "the bytes %" PRIu64 " to %" PRIu64 " before %s are of no tensor",
                         at, entry->begin, human_quote(entry->name).s);
        at = entry->end;
    }
    if (at > size)
        return wrong(path,
                     "it is cut off: its tensors take %" PRIu64 " bytes, and %" PRIu64 " are there",
                     at, size);
    if (at < size)
        return wrong(path, "%" PRIu64 " bytes after its last tensor are of none", size - at);
    return ST_OK;
}

Status safetensors_header_read(const json_t *header, const char *path, uint64_t size,
                               SafetensorsEntry **entries, size_t *n)
{
    static const char metadata[] = "__metadata__";
    const char *name;
    json_t *object;
    *n = 0;
    *entries = NULL;
    if (!json_is_object(header)) return wrong(path, "its header is not a JSON object");
    TRY(check_metadata(json_object_get(header, metadata), path));
    *entries = calloc(json_object_size(header) + 1, sizeof **entries);
    if (!*entries) return NO_MEMORY("for the header of a file of weights");
    json_object_foreach((json_t *)header, name, object)
    {
        if (strcmp(name, metadata) == 0) continue;
        SafetensorsEntry *entry = &(*entries)[(*n)++];
        entry->name = name;
        TRY(read_entry(object, path, entry));
    }
    qsort(*entries, *n, sizeof **entries, compare_places);
    return check_places(*entries, *n, path, size);
}
