/* Bytes that arrive in pieces, handed on as whole lines. */
#pragma once

#include "base/status.h"

#include <stddef.h>

typedef struct LineReader {
    char *data;
    size_t used, capacity;
    size_t limit; /* a longer line is refused */
} LineReader;

/* `line` ends in a NUL in place of its newline; it is valid during the call only. */
typedef void LineReaderFn(void *self, const char *line, size_t length);

void line_reader_init(LineReader *reader, size_t limit);
void line_reader_free(LineReader *reader);
/* ST_FAILED: a line is longer than the limit. */
Status line_reader_feed(LineReader *reader, const char *bytes, size_t n, LineReaderFn *fn,
                        void *self);
/* Hands on what came after the last newline, if anything. */
void line_reader_flush(LineReader *reader, LineReaderFn *fn, void *self);
