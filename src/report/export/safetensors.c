#include "report/export/safetensors.h"

#include "base/json_text.h"
#include "base/text.h"

#include <stdlib.h>

static const char *dtype_name(DType dtype)
{
    static const char *const names[DT_COUNT] = {
#define DTYPE(id, name, bytes, tensors_name, roles) tensors_name,
#include "plan/dtypes.def"
    };
    return names[dtype];
}

Status safetensors_open(Safetensors *st, const char *path)
{
    *st = (Safetensors){.file = {.fd = -1}};
    TRY(atomic_file_open(&st->file, path));
    st->header = json_object();
    if (st->header && json_object_set_new(st->header, "__metadata__", json_object()) == 0)
        return ST_OK;
    safetensors_abandon(st);
    return NO_MEMORY("for a file's header");
}

Status safetensors_metadata(Safetensors *st, const char *name, const char *value)
{
    json_t *metadata = json_object_get(st->header, "__metadata__");
    return json_object_set_new(metadata, name, json_string(value)) == 0
               ? ST_OK
               : NO_MEMORY("for a file's header");
}

Status safetensors_declare(Safetensors *st, const char *name, DType dtype, int n_dims,
                           const int64_t *dim)
{
    json_t *shape = json_array();
    size_t bytes = plan_dtype_size(dtype);
    for (int i = 0; i < n_dims; i++) {
        bytes *= (size_t)dim[i];
        if (json_array_append_new(shape, json_integer(dim[i])))
            return NO_MEMORY("for a file's header");
    }
    json_t *entry =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_name(dtype), "shape", shape,
                  "data_offsets", (json_int_t)st->declared, (json_int_t)(st->declared + bytes));
    if (json_object_set_new(st->header, name, entry)) return NO_MEMORY("for a file's header");
    st->declared += bytes;
    return ST_OK;
}

/* Blanks after the header that late metadata may fill. */
enum { LATE_ROOM = 64 };

/* The header with `room` blanks or a few more: it ends, and the data starts, at a multiple of 8. */
static Status dump_header(const Safetensors *st, size_t room, Text *out)
{
    char *text = json_text_dumps(st->header, JSON_COMPACT | JSON_PRESERVE_ORDER);
    if (!text) return NO_MEMORY("for a file's header");
    text_puts(out, text);
    text_fill(out, ' ', room + (8 - (out->n + room) % 8) % 8);
    free(text);
    return text_status(out);
}

static Status write_header(Safetensors *st, const Text *header)
{
    unsigned char size[8];
    st->header_bytes = header->n;
    for (int i = 0; i < 8; i++) size[i] = (unsigned char)(header->n >> (8 * i));
    TRY(atomic_file_write(&st->file, size, sizeof size));
    return atomic_file_write(&st->file, text_str(header), header->n);
}

Status safetensors_begin_data(Safetensors *st)
{
    CLEANUP(text_free) Text header = {0};
    TRY(dump_header(st, LATE_ROOM, &header));
    return write_header(st, &header);
}

/* What the shorter header leaves of the longer one are blanks. */
static Status rewrite_header(Safetensors *st, const Text *header)
{
    if (header->n > st->header_bytes) {
        return FAIL(ST_FAILED, "%s: no room in the header", st->file.path);
    }
    return atomic_file_rewrite(&st->file, 8, text_str(header), header->n);
}

Status safetensors_late_metadata(Safetensors *st, const char *name, const char *value)
{
    CLEANUP(text_free) Text header = {0};
    if (st->file.device) return ST_OK;
    TRY(safetensors_metadata(st, name, value));
    TRY(dump_header(st, 0, &header));
    return rewrite_header(st, &header);
}

Status safetensors_data(Safetensors *st, const void *data, size_t n)
{
    st->written += n;
    return atomic_file_write(&st->file, data, n);
}

Status safetensors_finish(Safetensors *st)
{
    if (st->written != st->declared) {
        return FAIL(ST_FAILED, "%s: %zu bytes of tensors were declared, %zu were written",
                    st->file.path, st->declared, st->written);
    }
    json_decref(st->header);
    st->header = NULL;
    return atomic_file_finish(&st->file);
}

void safetensors_abandon(Safetensors *st)
{
    json_decref(st->header);
    st->header = NULL;
    atomic_file_abandon(&st->file);
}
