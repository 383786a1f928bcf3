#include "backend/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without stdio, which allocates: where memory is short a machine must not look smaller than it is. */
bool proc_text_read(char *text, size_t size, const char *root, const char *path, ...)
{
    char full[PATH_MAX];
    const size_t top = (size_t)snprintf(full, sizeof full, "%s", root), rest = sizeof full - top;
    text[0] = '\0';
    if (top >= sizeof full) return false;
    va_list args;
    va_start(args, path);
    const bool fits = (size_t)vsnprintf(full + top, rest, path, args) < rest;
    va_end(args);
    const int fd = fits ? open(full, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return false;
    size_t n = 0;
    ssize_t more = 1;
    while (more > 0 && n < size - 1) {
        more = read(fd, text + n, size - 1 - n);
        if (more > 0) n += (size_t)more;
        if (more < 0 && errno == EINTR) more = 1;
    }
    close(fd);
    if (n > 0 && text[n - 1] == '\n') n--;
    text[more >= 0 ? n : 0] = '\0';
    return more >= 0;
}

bool proc_text_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || errno != 0) return false;
    *value = number;
    return true;
}

bool proc_text_field(const char *text, const char *key, char *value, size_t size)
{
    const size_t key_length = strlen(key);
    value[0] = '\0';
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *rest = line + key_length;
        if (length > key_length && memcmp(line, key, key_length) == 0 && strchr(" \t:", *rest)) {
            rest += strspn(rest, " \t:");
            const int n = rest < line + length ? (int)(line + length - rest) : 0;
            snprintf(value, size, "%.*s", n, rest);
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

bool proc_text_has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    if (length == 0) return false;
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        const bool starts = at == list || strchr(" ,", at[-1]);
        if (starts && strchr(" ,\n", at[length])) return true;
    }
    return false;
}

int proc_text_cpu_list(const char *list, bool in[PROC_TEXT_CPUS])
{
    int count = 0;
    memset(in, 0, PROC_TEXT_CPUS * sizeof *in);
    for (const char *at = list; *at;) {
        char *end;
        const long first = strtol(at, &end, 10);
        if (end == at) break;
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long i = first; i >= 0 && i <= last && i < PROC_TEXT_CPUS; i++) {
            count += !in[i];
            in[i] = true;
        }
        if (*end != ',') break;
        at = end + 1;
    }
    return count;
}
