#include "bench/measure/line_reader.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

void line_reader_init(LineReader *reader, size_t limit)
{
    *reader = (LineReader){.limit = limit};
}

void line_reader_free(LineReader *reader)
{
    free(reader->data);
    *reader = (LineReader){0};
}

/* Room for n more bytes and a NUL. */
static Status reserve(LineReader *r, size_t n)
{
    if (n > r->limit || r->used > r->limit - n) {
        return FAIL(ST_FAILED, "a line of more than %zu bytes", r->limit);
    }
    if (r->used + n < r->capacity) return ST_OK;
    size_t capacity = r->capacity ? r->capacity : FIRST_CAPACITY;
    while (capacity <= r->used + n) capacity *= 2;
    char *data = realloc(r->data, capacity);
    if (!data) return NO_MEMORY("for a line of %zu bytes", r->used + n);
    r->data = data;
    r->capacity = capacity;
    return ST_OK;
}

static Status append(LineReader *r, const char *bytes, size_t n)
{
    TRY(reserve(r, n));
    memcpy(r->data + r->used, bytes, n);
    r->used += n;
    r->data[r->used] = '\0';
    return ST_OK;
}

Status line_reader_feed(LineReader *r, const char *bytes, size_t n, LineReaderFn *fn, void *self)
{
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        const size_t part = end ? (size_t)(end - bytes) : n;
        TRY(append(r, bytes, part));
        if (!end) return ST_OK;
        fn(self, r->data, r->used);
        r->used = 0;
        bytes = end + 1;
        n -= part + 1;
    }
    return ST_OK;
}

void line_reader_flush(LineReader *r, LineReaderFn *fn, void *self)
{
    if (r->used == 0) return;
    fn(self, r->data, r->used);
    r->used = 0;
}
