#include "base/log.h"

#include "base/text.h"

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

/* One write for the whole line, so that lines of several processes do not mix. */
static void line(const char *prefix, const char *colour, const char *fmt, va_list args)
{
    Text text = {0};
    const bool colours = *colour && log_colour();
    text_printf(&text, "roofstep: %s%s%s", colours ? colour : "", prefix, colours ? "\033[0m" : "");
    text_vprintf(&text, fmt, args);
    text_puts(&text, "\n");
    fflush(stderr);
    (void)!write(STDERR_FILENO, text_str(&text), text.n);
    text_free(&text);
}

void log_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("", "", fmt, args);
    va_end(args);
}

void log_warning(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("warning: ", "\033[33m", fmt, args);
    va_end(args);
}
