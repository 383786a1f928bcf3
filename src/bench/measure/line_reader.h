/* Bytes that arrive in pieces, handed on as whole lines. */
#pragma once

#include "base/text.h"

/* Starts as {.limit = ...}; text_free(&reader.line) in the end. */
typedef struct LineReader {
    Text line;    /* what came of it so far */
    size_t limit; /* a longer line is refused */
} LineReader;

/* `line` ends in a NUL in place of its newline; it is valid during the call only. */
typedef void LineReaderFn(void *self, const char *line, size_t length);

/* ST_FAILED: a line is longer than the limit. */
Status line_reader_feed(LineReader *reader, const char *bytes, size_t n, LineReaderFn *fn,
                        void *self);
/* Hands on what came after the last newline, if anything. */
void line_reader_flush(LineReader *reader, LineReaderFn *fn, void *self);
