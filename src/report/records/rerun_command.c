#include "report/records/rerun_command.h"

#include <string.h>

/* Up to the blank that ends a word as escape_shell() writes it. */
static size_t word_length(const char *s)
{
    bool quoted = false;
    size_t n = 0;
    for (; s[n] && (quoted || s[n] != ' '); n++) {
        if (s[n] == '\'')
            quoted = !quoted;
        else if (s[n] == '\\' && !quoted && s[n + 1])
            n++;
    }
    return n;
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

void rerun_command(Text *out, const char *command)
{
    static const char option[] = "--resume",
                      joined[] = "--resume=", quoted[] = "'--resume=", numbered[] = "$'--resume=";
    const bool drop = !begins(command, "roofstep suite ");
    bool value = false, first = true;
    for (const char *at = command; *(at += strspn(at, " "));) {
        const size_t n = word_length(at);
        const bool bare = n == strlen(option) && begins(at, option);
        if (!drop ||
            !(value || bare || begins(at, joined) || begins(at, quoted) || begins(at, numbered))) {
            text_puts(out, first ? "" : " ");
            text_append(out, at, n);
            first = false;
        }
        value = bare;
        at += n;
    }
}
