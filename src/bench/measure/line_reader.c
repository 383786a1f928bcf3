#include "bench/measure/line_reader.h"

#include <string.h>

static Status append(LineReader *r, const char *bytes, size_t n)
{
    if (n > r->limit || r->line.n > r->limit - n)
        return FAIL(ST_FAILED, "a line of more than %zu bytes", r->limit);
    text_append(&r->line, bytes, n);
    return text_status(&r->line);
}

static void hand_on(LineReader *r, LineReaderFn *fn, void *self)
{
    fn(self, text_str(&r->line), r->line.n);
    text_clear(&r->line);
}

Status line_reader_feed(LineReader *r, const char *bytes, size_t n, LineReaderFn *fn, void *self)
{
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        const size_t part = end ? (size_t)(end - bytes) : n;
        TRY(append(r, bytes, part));
        if (!end) return ST_OK;
        hand_on(r, fn, self);
        bytes = end + 1;
        n -= part + 1;
    }
    return ST_OK;
}

void line_reader_flush(LineReader *r, LineReaderFn *fn, void *self)
{
    if (r->line.n > 0) hand_on(r, fn, self);
}
