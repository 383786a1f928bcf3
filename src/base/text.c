#include "base/text.h"

#include "base/atomic_file.h"
#include "base/error_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(Text *text)
{
    free(text->data);
    *text = (Text){0};
}

void text_clear(Text *text)
{
    text->n = 0;
    text->failed = false;
    if (text->data) text->data[0] = 0;
}

/* Room for `more` bytes and the zero after them. */
static bool reserve(Text *text, size_t more)
{
    if (text->failed) return false;
    if (text->data && more < text->capacity - text->n) return true;
    const bool fits = more < SIZE_MAX / 4 && text->n < SIZE_MAX / 4;
    const size_t need = text->n + more + 1;
    const size_t capacity = need < 128 ? 128 : need + need / 2;
    char *data = fits ? realloc(text->data, capacity) : NULL;
    if (!data) {
        status_note_no_memory();
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_append(Text *text, const char *bytes, size_t n)
{
    if (!reserve(text, n)) return;
    if (n > 0) memcpy(text->data + text->n, bytes, n);
    text->n += n;
    text->data[text->n] = 0;
}

void text_puts(Text *text, const char *s)
{
    text_append(text, s, strlen(s));
}

void text_fill(Text *text, char c, size_t n)
{
    if (!reserve(text, n)) return;
    memset(text->data + text->n, c, n);
    text->n += n;
    text->data[text->n] = 0;
}

void text_vprintf(Text *text, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0) text->failed = true;
    if (n >= 0 && reserve(text, (size_t)n)) {
        vsnprintf(text->data + text->n, (size_t)n + 1, fmt, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void text_printf(Text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_vprintf(text, fmt, args);
    va_end(args);
}

const char *text_str(const Text *text)
{
    return text->data ? text->data : "";
}

Status text_status(const Text *text)
{
    if (!text->failed) return ST_OK;
    return NO_MEMORY("for a text of more than %zu bytes", text->n);
}

bool text_ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static size_t width_of(const char *s, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++) width += ((unsigned char)s[i] & 0xc0U) != 0x80U;
    return width;
}

size_t text_width(const char *s)
{
    return width_of(s, strlen(s));
}

void text_wrap(Text *text, const char *words, size_t column, size_t indent, size_t columns)
{
    bool first = true;
    for (size_t n; *words; words += n + (words[n] != 0)) {
        n = strcspn(words, " \n");
        const size_t width = width_of(words, n);
        if (!first && column + 1 + width > columns) {
            text_puts(text, "\n");
            text_fill(text, ' ', indent);
            column = indent;
        } else if (!first) {
            text_puts(text, " ");
            column++;
        }
        text_append(text, words, n);
        column += width;
        first = false;
    }
}

/* ---- files ---- */

Status text_write_file(const char *path, const void *data, size_t n)
{
    CLEANUP(atomic_file_abandon) AtomicFile file;
    TRY(atomic_file_open(&file, path));
    TRY(atomic_file_write(&file, data, n));
    return atomic_file_finish(&file);
}

static Status read_all(Text *text, FILE *file, const char *path, size_t limit)
{
    char block[65536];
    size_t total = 0;
    for (;;) {
        const size_t n = fread(block, 1, sizeof block, file);
        if (n == 0) break;
        total += n;
        if (total > limit) return FAIL(ST_IO, "%s has more than %zu bytes", path, limit);
        text_append(text, block, n);
    }
    if (ferror(file)) return FAIL(ST_IO, "cannot read %s: %s", path, error_text(errno));
    return text_status(text);
}

Status text_read_file(Text *text, const char *path, size_t limit)
{
    FILE *file = fopen(path, "rbe");
    if (!file) return FAIL(ST_IO, "cannot read %s: %s", path, error_text(errno));
    const Status status = read_all(text, file, path, limit);
    fclose(file);
    return status;
}
