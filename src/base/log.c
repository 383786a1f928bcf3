#include "base/log.h"

#include "base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool log_colour_on(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0 && (!no || !*no);
}

bool log_colour(void)
{
    return log_colour_on(STDERR_FILENO);
}

static const char name[] = "roofstep: ", warning[] = "warning: ";

/* Every cell may warn of the same file: a warning is shown once. Beyond MOST different ones, each
 * is shown each time. */
static bool is_new(const char *words)
{
    enum { MOST = 64 };
    static uint64_t heard[MOST];
    static int n;
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    for (; *words; words++) hash = (hash ^ (unsigned char)*words) * 1099511628211U;
    for (int i = 0; i < n; i++) {
        if (heard[i] == hash) return false;
    }
    if (n < MOST) heard[n++] = hash;
    return true;
}

bool log_is_repeated(const char *line)
{
    const size_t before = sizeof name - 1 + sizeof warning - 1;
    const bool warns = strncmp(line, name, sizeof name - 1) == 0 &&
                       strncmp(line + sizeof name - 1, warning, sizeof warning - 1) == 0;
    return warns && !is_new(line + before);
}

/* One write for the whole line, so that lines of several processes do not mix. False: there is no
 * memory for it. */
static bool put(const char *before, const char *colour, const char *prefix, const Text *words)
{
    CLEANUP(text_free) Text text = {0};
    const bool colours = *colour && log_colour();
    text_printf(&text, "%s%s%s%s", before, colours ? colour : "", prefix, colours ? "\033[0m" : "");
    text_append(&text, text_str(words), words->n);
    text_puts(&text, "\n");
    const bool whole = !text.failed;
    fflush(stderr);
    if (whole) (void)!write(STDERR_FILENO, text_str(&text), text.n);
    return whole;
}

/* Needs no memory: characters that would need an escape become '?'. */
static void put_plain(const char *line)
{
    char bytes[2048];
    size_t n = 0;
    for (; line[n] && n < sizeof bytes - 1; n++)
        bytes[n] = (char)(line[n] < ' ' || line[n] > '~' ? '?' : line[n]);
    bytes[n++] = '\n';
    (void)!write(STDERR_FILENO, bytes, n);
}

static void put_words(Text *words, const char *fmt, va_list args)
{
    CLEANUP(text_free) Text raw = {0};
    text_vprintf(&raw, fmt, args);
    escape_put(words, ESCAPE_LINE, text_str(&raw));
}

void log_line(const char *line)
{
    CLEANUP(text_free) Text words = {0};
    escape_put(&words, ESCAPE_LINE, line);
    if (words.failed || !put("", "", "", &words)) put_plain(line);
}

static const char mode_name[] = "ROOFSTEP_LOG";
static const char *const modes[] = {[LOG_ALL] = "all", [LOG_PART] = "part", [LOG_QUIET] = "quiet"};

LogMode log_mode(void)
{
    const char *word = getenv(mode_name);
    for (int i = LOG_QUIET; word && i > LOG_ALL; i--) {
        if (strcmp(word, modes[i]) == 0) return (LogMode)i;
    }
    return LOG_ALL;
}

void log_set_mode(LogMode mode)
{
    if (mode > log_mode()) setenv(mode_name, modes[mode], 1);
}

static void put_line_of(const char *fmt, va_list args)
{
    CLEANUP(text_free) Text words = {0};
    put_words(&words, fmt, args);
    (void)put(name, "", "", &words);
}

void log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_line_of(fmt, args);
    va_end(args);
}

void log_note(const char *fmt, ...)
{
    va_list args;
    if (log_mode() == LOG_QUIET) return;
    va_start(args, fmt);
    put_line_of(fmt, args);
    va_end(args);
}

void log_warning(const char *fmt, ...)
{
    CLEANUP(text_free) Text words = {0};
    va_list args;
    va_start(args, fmt);
    put_words(&words, fmt, args);
    va_end(args);
    if (is_new(text_str(&words))) (void)put(name, "\033[33m", warning, &words);
}
