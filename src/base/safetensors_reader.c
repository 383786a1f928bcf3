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
    uint64_t data, size; /* where the tensors' bytes begin, and how many there are */
} Shard;

struct SafetensorsReader {
    Shard *shards;
    size_t n_shards;
};

typedef struct ElementType {
    const char *name;
    size_t bytes;
} ElementType;

static const ElementType types[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}};

static Status wrong(const Shard *shard, const char *what)
{
    return FAIL(ST_USAGE, "%s: %s: not a safetensors file that can be read",
                human_quote(text_str(&shard->path)).s, what);
}

/* ---- opening ---- */

static Status read_bytes(const Shard *shard, void *to, size_t n, uint64_t from)
{
    char *at = to;
    while (n > 0) {
        const ssize_t got = pread(shard->fd, at, n, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return FAIL(ST_IO, "cannot read %s: %s", human_quote(text_str(&shard->path)).s,
                        error_text(errno));
        if (got == 0) return wrong(shard, "it ends too early");
        at += got;
        from += (uint64_t)got;
        n -= (size_t)got;
    }
    return ST_OK;
}

static Status read_header(Shard *shard, uint64_t length)
{
    json_error_t error;
    CLEANUP(array_free) char *text = malloc((size_t)length);
    if (!text) return NO_MEMORY("for the header of a file of weights");
    TRY(read_bytes(shard, text, (size_t)length, 8));
    TRY(json_reader_parse(&shard->header, text_str(&shard->path), text, (size_t)length,
                          JSON_REJECT_DUPLICATES, &error));
    return json_is_object(shard->header) ? ST_OK : wrong(shard, "its header is not a JSON object");
}

static Status open_shard(Shard *shard)
{
    enum { MOST_HEADER = 100 << 20 }; /* as safetensors itself has it */
    unsigned char bytes[8];
    struct stat info;
    uint64_t length = 0;
    /* O_NONBLOCK: a FIFO would wait for somebody who writes to it. */
    shard->fd = open(text_str(&shard->path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (shard->fd < 0 || fstat(shard->fd, &info) != 0)
        return FAIL(ST_USAGE, "cannot read %s: %s", human_quote(text_str(&shard->path)).s,
                    error_text(errno));
    if (!S_ISREG(info.st_mode)) return wrong(shard, "it is not a regular file");
    TRY(read_bytes(shard, bytes, sizeof bytes, 0));
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    if (length > MOST_HEADER || length + 8 > (uint64_t)info.st_size)
        return wrong(shard, "its header is longer than the file");
    shard->data = 8 + length;
    shard->size = (uint64_t)info.st_size - shard->data;
    return read_header(shard, length);
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
                    human_quote(index).s);
    json_object_foreach(map, tensor, file)
    {
        const char *name = json_string_value(file);
        if (!name || !*name || strchr(name, '/') || strcmp(name, "..") == 0)
            return FAIL(ST_USAGE, "%s: the file of %s is not a name in this folder",
                        human_quote(index).s, human_quote(tensor).s);
        if (!has_shard(reader, name)) TRY(add_shard(reader, folder, name));
    }
    return ST_OK;
}

static Status open_all(SafetensorsReader *reader, const char *folder)
{
    enum { MOST_INDEX = 100 << 20 };
    static const char single[] = "model.safetensors", index[] = "model.safetensors.index.json";
    CLEANUP(text_free) Text path = {0};
    CLEANUP(text_free) Text text = {0};
    text_printf(&path, "%s/%s", folder, single);
    TRY(text_status(&path));
    if (access(text_str(&path), F_OK) == 0) return add_shard(reader, folder, single);
    text_clear(&path);
    text_printf(&path, "%s/%s", folder, index);
    TRY(text_status(&path));
    struct stat info;
    if (stat(text_str(&path), &info) != 0) return ST_OK;
    if (!S_ISREG(info.st_mode))
        return FAIL(ST_USAGE, "%s is not a regular file", human_quote(text_str(&path)).s);
    TRY(text_read_file(&text, text_str(&path), MOST_INDEX));
    return add_listed(reader, folder, text_str(&path), text_str(&text), text.n);
}

Status safetensors_reader_open(SafetensorsReader **out, const char *folder)
{
    *out = NULL;
    SafetensorsReader *reader = calloc(1, sizeof *reader);
    if (!reader) return NO_MEMORY("for a file of weights");
    const Status status = open_all(reader, folder);
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
        json_decref(shard->header);
        text_free(&shard->path);
    }
    free(reader->shards);
    free(reader);
}

/* ---- reading ---- */

static json_t *find(const SafetensorsReader *reader, const char *name, const Shard **shard)
{
    for (size_t i = 0; i < reader->n_shards; i++) {
        json_t *entry = json_object_get(reader->shards[i].header, name);
        *shard = &reader->shards[i];
        if (entry) return entry;
    }
    return NULL;
}

bool safetensors_reader_has(const SafetensorsReader *reader, const char *name)
{
    const Shard *shard;
    return find(reader, name, &shard) != NULL;
}

static Status wrong_tensor(const Shard *shard, const char *name, const char *what)
{
    return FAIL(ST_USAGE, "%s: the tensor %s %s", human_quote(text_str(&shard->path)).s,
                human_quote(name).s, what);
}

static bool has_shape(const json_t *shape, int n_dims, const int64_t *dim)
{
    if (!json_is_array(shape) || json_array_size(shape) != (size_t)n_dims) return false;
    for (int i = 0; i < n_dims; i++) {
        const json_t *n = json_array_get(shape, (size_t)i);
        if (!json_is_integer(n) || json_integer_value(n) != dim[i]) return false;
    }
    return true;
}

static const ElementType *find_type(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) return &types[i];
    }
    return NULL;
}

/* In place, from the last element on: each is written at or after where it was read. */
static void widen(float *out, size_t n, const ElementType *type)
{
    if (type->bytes == 4) return;
    const bool bf16 = type->name[0] == 'B';
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
    const Shard *shard = NULL;
    json_t *entry = find(reader, name, &shard);
    if (!entry) return wrong_tensor(shard, name, "is missing");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    const ElementType *type = find_type(json_string_value(json_object_get(entry, "dtype")));
    size_t n = 1;
    for (int i = 0; i < n_dims; i++) n *= (size_t)dim[i];
    if (!type) return wrong_tensor(shard, name, "is neither F32, F16 nor BF16");
    if (!has_shape(json_object_get(entry, "shape"), n_dims, dim))
        return wrong_tensor(shard, name, "has another shape than config.json says");
    if (!json_is_integer(first) || !json_is_integer(last)) {
        return wrong_tensor(shard, name, "has no place in the file");
    }
    const json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > shard->size ||
        (uint64_t)(end - begin) != n * type->bytes)
        return wrong_tensor(shard, name, "has other bytes than its shape takes");
    TRY(read_bytes(shard, out, n * type->bytes, shard->data + (uint64_t)begin));
    widen(out, n, type);
    return ST_OK;
}
