#include "base/safetensors_reader.h"

#include "base/array.h"
#include "base/error_text.h"
#include "base/float16.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file, its header parsed. */
typedef struct Shard {
    Text path;
    int fd;
    json_t *header;
    uint64_t data; /* where the tensors' bytes begin */
    SafetensorsEntry *entries;
    size_t n;
} Shard;

/* A tensor, and which file has it. */
typedef struct Place {
    const SafetensorsEntry *entry;
    size_t shard;
} Place;

struct SafetensorsReader {
    Text source;
    Shard *shards;
    size_t n_shards;
    Place *places; /* of all files, in the order of their names */
    size_t n;
};

static Status wrong(const Shard *shard, const char *what)
{
    return FAIL(ST_USAGE,
                "%s: %s: not a safetensors file that can be read; download or write it again",
                human_path(text_str(&shard->path)).s, what);
}

/* ---- opening ---- */

static Status read_bytes(const Shard *shard, void *to, size_t n, uint64_t from)
{
    char *at = to;
    while (n > 0) {
        const ssize_t got = pread(shard->fd, at, n, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return FAIL(ST_IO, "cannot read %s: %s", human_path(text_str(&shard->path)).s,
                        error_text(errno));
        if (got == 0) return wrong(shard, "it ends too early");
        at += got;
        from += (uint64_t)got;
        n -= (size_t)got;
    }
    return ST_OK;
}

/* `length` bytes, and `size` bytes of tensors after it. */
static Status read_header(Shard *shard, uint64_t length, uint64_t size)
{
    json_error_t error;
    CLEANUP(array_free) char *text = calloc((size_t)length + 1, 1);
    if (!text) return NO_MEMORY("for the header of a file of weights");
    TRY(read_bytes(shard, text, (size_t)length, 8));
    TRY(json_reader_parse(&shard->header, text_str(&shard->path), text, (size_t)length,
                          JSON_REJECT_DUPLICATES, &error));
    if (text[0] != '{' || !shard->header) return wrong(shard, "its header is not a JSON object");
    return safetensors_header_read(shard->header, text_str(&shard->path), size, &shard->entries,
                                   &shard->n);
}

static Status open_shard(Shard *shard)
{
    enum { MOST_HEADER = 100000000 }; /* as safetensors itself has it */
    unsigned char bytes[8];
    struct stat info;
    uint64_t length = 0;
    /* O_NONBLOCK: a FIFO would wait for somebody who writes to it. */
    shard->fd = open(text_str(&shard->path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (shard->fd < 0 || fstat(shard->fd, &info) != 0)
        return FAIL(ST_USAGE, "cannot read %s: %s", human_path(text_str(&shard->path)).s,
                    error_text(errno));
    if (!S_ISREG(info.st_mode)) return wrong(shard, "it is not a regular file");
    TRY(read_bytes(shard, bytes, sizeof bytes, 0));
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    if (length > MOST_HEADER || length + 8 > (uint64_t)info.st_size)
        return wrong(shard, "its header is longer than the file");
    shard->data = 8 + length;
    return read_header(shard, length, (uint64_t)info.st_size - shard->data);
}

static Status add_shard(SafetensorsReader *reader, const char *folder, const char *name)
{
    TRY(array_grow(&reader->shards, reader->n_shards, 1, sizeof *reader->shards));
    Shard *shard = &reader->shards[reader->n_shards++];
    *shard = (Shard){.fd = -1};
    text_printf(&shard->path, "%s/%s", folder, name);
    TRY(text_status(&shard->path));
    return open_shard(shard);
}

static bool has_shard(const SafetensorsReader *reader, const char *name)
{
    for (size_t i = 0; i < reader->n_shards; i++) {
        const char *slash = strrchr(text_str(&reader->shards[i].path), '/');
        if (strcmp(slash + 1, name) == 0) return true;
    }
    return false;
}

/* The files that an index names, each once. A name with a slash could lead anywhere. */
static Status add_listed(SafetensorsReader *reader, const char *folder, const char *index,
                         const char *text, size_t n)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(json_reader_parse(&root, index, text, n, JSON_REJECT_DUPLICATES, NULL));
    json_t *map = json_object_get(root, "weight_map");
    const char *tensor;
    json_t *file;
    if (!json_is_object(map))
        return FAIL(ST_USAGE, "%s has no weight_map that names the files of weights",
                    human_path(index).s);
    json_object_foreach(map, tensor, file)
    {
        const char *name = json_string_value(file);
        if (!name || !*name || strchr(name, '/') || strcmp(name, "..") == 0)
            return FAIL(ST_USAGE, "%s: the file of %s is not a name in this folder",
                        human_path(index).s, human_quote(tensor).s);
        if (!has_shard(reader, name)) TRY(add_shard(reader, folder, name));
    }
    return ST_OK;
}

static int compare_names(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    return strcmp(x->entry->name, y->entry->name);
}

/* Every tensor of every file by its name, which only one of them may have. */
static Status make_places(SafetensorsReader *reader)
{
    for (size_t s = 0; s < reader->n_shards; s++) {
        const Shard *shard = &reader->shards[s];
        TRY(array_grow(&reader->places, reader->n, shard->n, sizeof *reader->places));
        for (size_t i = 0; i < shard->n; i++)
            reader->places[reader->n++] = (Place){.entry = &shard->entries[i], .shard = s};
    }
    if (reader->n == 0) return ST_OK;
    qsort(reader->places, reader->n, sizeof *reader->places, compare_names);
    for (size_t i = 1; i < reader->n; i++) {
        if (compare_names(&reader->places[i - 1], &reader->places[i]) != 0) continue;
        return FAIL(ST_USAGE, "%s: two of its files have the tensor %s",
                    human_path(text_str(&reader->source)).s,
                    human_quote(reader->places[i].entry->name).s);
    }
    return ST_OK;
}

static Status open_all(SafetensorsReader *reader, const char *folder)
{
    enum { MOST_INDEX = 100 << 20 };
    static const char single[] = "model.safetensors", index[] = "model.safetensors.index.json";
    Text *path = &reader->source;
    CLEANUP(text_free) Text text = {0};
    text_printf(path, "%s/%s", folder, single);
    TRY(text_status(path));
    if (access(text_str(path), F_OK) == 0) return add_shard(reader, folder, single);
    text_clear(path);
    text_printf(path, "%s/%s", folder, index);
    TRY(text_status(path));
    struct stat info;
    if (stat(text_str(path), &info) != 0) return ST_OK;
    if (!S_ISREG(info.st_mode))
        return FAIL(ST_USAGE, "%s is not a regular file", human_path(text_str(path)).s);
    TRY(text_read_file(&text, text_str(path), MOST_INDEX));
    return add_listed(reader, folder, text_str(path), text_str(&text), text.n);
}

Status safetensors_reader_open(SafetensorsReader **out, const char *folder)
{
    *out = NULL;
    SafetensorsReader *reader = calloc(1, sizeof *reader);
    if (!reader) return NO_MEMORY("for a file of weights");
    Status status = open_all(reader, folder);
    if (status == ST_OK) status = make_places(reader);
    if (status == ST_OK && reader->n_shards > 0)
        *out = reader;
    else
        safetensors_reader_close(reader);
    return status;
}

bool safetensors_reader_reads(const SafetensorsReader *reader, const char *path)
{
    struct stat file, shard;
    if (!reader || stat(path, &file) != 0) return false;
    for (size_t i = 0; i < reader->n_shards; i++) {
        if (fstat(reader->shards[i].fd, &shard) == 0 && shard.st_dev == file.st_dev &&
            shard.st_ino == file.st_ino)
            return true;
    }
    return false;
}

void safetensors_reader_close(SafetensorsReader *reader)
{
    if (!reader) return;
    for (size_t i = 0; i < reader->n_shards; i++) {
        Shard *shard = &reader->shards[i];
        if (shard->fd >= 0) close(shard->fd);
        free(shard->entries);
        json_decref(shard->header);
        text_free(&shard->path);
    }
    free(reader->places);
    text_free(&reader->source);
    free(reader->shards);
    free(reader);
}

/* ---- reading ---- */

const char *safetensors_reader_source(const SafetensorsReader *reader)
{
    return text_str(&reader->source);
}

size_t safetensors_reader_count(const SafetensorsReader *reader)
{
    return reader->n;
}

const SafetensorsEntry *safetensors_reader_entry(const SafetensorsReader *reader, size_t i)
{
    return reader->places[i].entry;
}

static const Shard *shard_of(const SafetensorsReader *reader, size_t i)
{
    return &reader->shards[reader->places[i].shard];
}

const char *safetensors_reader_path(const SafetensorsReader *reader, size_t i)
{
    return text_str(&shard_of(reader, i)->path);
}

bool safetensors_reader_find(const SafetensorsReader *reader, const char *name, size_t *i)
{
    const Place key = {.entry = &(SafetensorsEntry){.name = name}};
    const Place *found =
        reader->n ? bsearch(&key, reader->places, reader->n, sizeof key, compare_names) : NULL;
    if (found) *i = (size_t)(found - reader->places);
    return found != NULL;
}

static bool same_shape(const SafetensorsEntry *entry, int n_dims, const int64_t *dim)
{
    return entry->n_dims == n_dims && memcmp(entry->dim, dim, (size_t)n_dims * sizeof *dim) == 0;
}

Status safetensors_reader_equal(const SafetensorsReader *reader, size_t a, size_t b, bool *equal)
{
    char left[1 << 12], right[1 << 12];
    const SafetensorsEntry *x = reader->places[a].entry, *y = reader->places[b].entry;
    const Shard *of_x = shard_of(reader, a), *of_y = shard_of(reader, b);
    *equal = x->dtype == y->dtype && same_shape(x, y->n_dims, y->dim);
    for (uint64_t at = 0, n; *equal && at < x->end - x->begin; at += n) {
        n = x->end - x->begin - at;
        if (n > sizeof left) n = sizeof left;
        TRY(read_bytes(of_x, left, n, of_x->data + x->begin + at));
        TRY(read_bytes(of_y, right, n, of_y->data + y->begin + at));
        *equal = memcmp(left, right, n) == 0;
    }
    return ST_OK;
}

/* In place, from the last element on: each is written at or after where it was read. */
static void widen(float *out, size_t n, bool bf16)
{
    const uint16_t *in = (const uint16_t *)out;
    for (size_t i = n; i-- > 0;) {
        uint16_t half;
        memcpy(&half, in + i, sizeof half);
        const float x = bf16 ? float16_from_bf16(half) : float16_from_f16(half);
        memcpy(out + i, &x, sizeof x);
    }
}

Status safetensors_reader_read(const SafetensorsReader *reader, const char *name, int n_dims,
                               const int64_t *dim, float *out)
{
    size_t i;
    if (!safetensors_reader_find(reader, name, &i))
        return FAIL(ST_USAGE, "%s: the tensor %s is missing",
                    human_path(text_str(&reader->source)).s, human_quote(name).s);
    const SafetensorsEntry *entry = reader->places[i].entry;
    const Shard *shard = shard_of(reader, i);
    const bool f32 = strcmp(entry->dtype, "F32") == 0, bf16 = strcmp(entry->dtype, "BF16") == 0;
    if (!f32 && !bf16 && strcmp(entry->dtype, "F16") != 0)
        return FAIL(ST_USAGE, "%s: the tensor %s is %s; F32, F16 and BF16 are read",
                    human_path(text_str(&shard->path)).s, human_quote(name).s, entry->dtype);
    if (!same_shape(entry, n_dims, dim))
        return FAIL(ST_USAGE, "%s: the tensor %s is %s, and the model has %s",
                    human_path(text_str(&shard->path)).s, human_quote(name).s,
                    safetensors_header_shape(entry->n_dims, entry->dim).s,
                    safetensors_header_shape(n_dims, dim).s);
    const size_t bytes = (size_t)(entry->end - entry->begin);
    TRY(read_bytes(shard, out, bytes, shard->data + entry->begin));
    if (!f32) widen(out, bytes / sizeof(uint16_t), bf16);
    return ST_OK;
}
