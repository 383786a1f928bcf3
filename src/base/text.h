/* A growing string, and files written whole or not at all.
 *
 * The first failure (memory) sticks: later calls do nothing, so writers read straight down and the
 * caller checks text_status() once. A zeroed Text is an empty one. */
#pragma once

#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Text {
    char *data; /* ends in a zero byte; NULL while empty: use text_str() */
    size_t n;   /* bytes before that zero */
    size_t capacity;
    bool failed;
} Text;

void text_free(Text *text);  /* leaves it empty and usable */
void text_clear(Text *text); /* keeps its memory */
void text_append(Text *text, const char *bytes, size_t n);
void text_puts(Text *text, const char *s);
void text_fill(Text *text, char c, size_t n); /* n times the same character */
void text_printf(Text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *text, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

const char *text_str(const Text *text); /* never NULL */
Status text_status(const Text *text);   /* ST_NO_MEMORY when anything is missing from it */

/* Appends words (spaces and ends of lines part them) from `column` on, in lines of at most `columns`, the
 * later ones from column `indent` on. A longer word has a line of its own. */
void text_wrap(Text *text, const char *words, size_t column, size_t indent, size_t columns);

/* Columns it takes on a terminal: UTF-8 code points, not bytes. */
size_t text_width(const char *s);
bool text_ends_with(const char *s, const char *end);

/* The file at `path` holds either what it held before or all `n` bytes: a temporary file in the same
 * directory, fsync, rename. "-" is not special. */
Status text_write_file(const char *path, const void *data, size_t n);
/* Appends the whole file. ST_IO when it cannot be read, or holds more than `limit` bytes. */
Status text_read_file(Text *text, const char *path, size_t limit);
