#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void text_shell_quote(Text *text, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=,./:@%^";
    if (*argument && argument[strspn(argument, plain)] == 0) {
        text_puts(text, argument);
        return;
    }
    text_puts(text, "'");
    for (const char *s = argument; *s; s++) {
        if (*s == '\'')
            text_puts(text, "'\\''");
        else
            text_append(text, s, 1);
    }
    text_puts(text, "'");
}

const char *text_str(const Text *text)
{
    return text->data ? text->data : "";
}

Status text_status(const Text *text)
{
    if (!text->failed) return ST_OK;
    return FAIL(ST_NO_MEMORY, "no memory for a text of more than %zu bytes", text->n);
}

size_t text_width(const char *s)
{
    size_t width = 0;
    for (; *s; s++) width += ((unsigned char)*s & 0xc0U) != 0x80U;
    return width;
}

/* ---- files ---- */

static Status write_all(int fd, const char *data, size_t n, const char *path)
{
    while (n > 0) {
        const ssize_t written = write(fd, data, n);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return FAIL(ST_IO, "cannot write %s: %s", path, strerror(errno));
        data += written;
        n -= (size_t)written;
    }
    return ST_OK;
}

static Status close_written(int fd, const char *path, Status status)
{
    if (close(fd) == 0 || status != ST_OK) return status;
    return FAIL(ST_IO, "cannot write %s: %s", path, strerror(errno));
}

/* A terminal, a pipe, /dev/null: nothing can take its place, so it is written as it is. */
static Status write_device(const char *path, const void *data, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return FAIL(ST_IO, "cannot write %s: %s", path, strerror(errno));
    return close_written(fd, path, write_all(fd, data, n, path));
}

static Status open_beside(const char *path, Text *name, int *fd)
{
    for (int i = 0; i < 100; i++) {
        text_clear(name);
        text_printf(name, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        TRY(text_status(name));
        *fd = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0 || errno != EEXIST) break;
    }
    return *fd >= 0 ? ST_OK : FAIL(ST_IO, "cannot create %s: %s", path, strerror(errno));
}

/* A rename lasts only once the directory is on disk too. Some file systems refuse to sync one: the
 * data are written by then, so that is no failure. */
static void sync_directory(const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof directory) return;
    memcpy(directory, n ? path : ".", n ? n : 1);
    directory[n ? n : 1] = 0;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* `old` is the file that is replaced, NULL when there is none. */
static Status replace(const char *path, const struct stat *old, const void *data, size_t n)
{
    Text name = {0};
    int fd = -1;
    Status status = open_beside(path, &name, &fd);
    if (status == ST_OK) {
        if (old) (void)!fchmod(fd, old->st_mode & 07777);
        status = write_all(fd, data, n, path);
        if (status == ST_OK && fsync(fd) != 0 && errno != EINVAL)
            status = FAIL(ST_IO, "cannot write %s: %s", path, strerror(errno));
        status = close_written(fd, path, status);
        if (status == ST_OK && rename(name.data, path) != 0)
            status = FAIL(ST_IO, "cannot replace %s: %s", path, strerror(errno));
        if (status != ST_OK)
            unlink(name.data);
        else
            sync_directory(path);
    }
    text_free(&name);
    return status;
}

Status text_write_file(const char *path, const void *data, size_t n)
{
    struct stat old;
    if (*path == 0) return FAIL(ST_IO, "a file needs a name");
    if (stat(path, &old) != 0) return replace(path, NULL, data, n);
    if (S_ISDIR(old.st_mode)) return FAIL(ST_IO, "cannot write %s: it is a directory", path);
    if (!S_ISREG(old.st_mode)) return write_device(path, data, n);
    char real[PATH_MAX]; /* a link stays a link */
    return replace(realpath(path, real) ? real : path, &old, data, n);
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
    if (ferror(file)) return FAIL(ST_IO, "cannot read %s: %s", path, strerror(errno));
    return text_status(text);
}

Status text_read_file(Text *text, const char *path, size_t limit)
{
    FILE *file = fopen(path, "rbe");
    if (!file) return FAIL(ST_IO, "cannot read %s: %s", path, strerror(errno));
    const Status status = read_all(text, file, path, limit);
    fclose(file);
    return status;
}
