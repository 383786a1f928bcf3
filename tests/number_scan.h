/* Numbers in a text as write-ups have them: "2,565", "↓25.5%", "two"; and the ways in which they
 * say that something did not fit, which count as INFINITY. */
#pragma once

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Number {
    double value; /* negative after a "↓" */
    size_t at, length;
} Number;

static const struct {
    const char *word;
    double value;
} number_words[] = {{"OOM", INFINITY},      {" inf ", INFINITY},
                    {" – ", INFINITY},      {"Cannot do rest", INFINITY},
                    {"too big", INFINITY},  {"couldn't fit", INFINITY},
                    {"two Kernel calls", 2}};

static bool number_is_after(const char *text, size_t at, const char *sign)
{
    const size_t n = strlen(sign);
    return at >= n && strncmp(text + at - n, sign, n) == 0;
}

/* Three digits after it, and no fourth: a comma between thousands. */
static bool number_is_comma(const char *s)
{
    return s[0] == ',' && isdigit((unsigned char)s[1]) && isdigit((unsigned char)s[2]) &&
           isdigit((unsigned char)s[3]) && !isdigit((unsigned char)s[4]);
}

static bool number_is_begin(const char *text, size_t at)
{
    if (!isdigit((unsigned char)text[at])) return false;
    const char before = at > 0 ? text[at - 1] : ' ';
    return !isalnum((unsigned char)before) && before != '_';
}

static Number number_digits(const char *text, size_t at)
{
    char digits[32];
    size_t n = 0, end = at;
    while (n + 1 < sizeof digits) {
        const bool point =
            text[end] == '.' && isdigit((unsigned char)text[end + 1]) && !memchr(digits, '.', n);
        if (!isdigit((unsigned char)text[end]) && !point && !number_is_comma(text + end)) break;
        if (text[end] != ',') digits[n++] = text[end];
        end++;
    }
    digits[n] = '\0';
    const double value = strtod(digits, NULL);
    return (Number){number_is_after(text, at, "↓") ? -value : value, at, end - at};
}

/* The first one from `from` on; false: none. */
static bool number_next(const char *text, size_t from, Number *number)
{
    for (size_t at = from; text[at]; at++) {
        if (number_is_begin(text, at)) {
            *number = number_digits(text, at);
            return true;
        }
        for (size_t w = 0; w < sizeof number_words / sizeof *number_words; w++) {
            const size_t n = strlen(number_words[w].word);
            if (strncmp(text + at, number_words[w].word, n) != 0) continue;
            *number = (Number){number_words[w].value, at, n > 3 ? n - 1 : n};
            return true;
        }
    }
    return false;
}

static size_t number_list(const char *text, Number *list, size_t most)
{
    size_t n = 0;
    for (size_t at = 0; n < most && number_next(text, at, &list[n]); n++)
        at = list[n].at + list[n].length;
    return n;
}
