#include "base/escape.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what is written by its number ---- */

static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x0000, 0x001f}, /* ESC begins what a terminal obeys; \v and \f end a line of Typst */
    {0x007f, 0x009f}, /* U+009B is ESC [; U+0085 ends a line of Typst */
    {0x061c, 0x061c}, /* marks of direction, here and below: what follows is shown elsewhere */
    {0x200e, 0x200f}, /* */
    {0x2028, 0x202e}, /* two line ends of Typst and JavaScript, then directions */
    {0x2066, 0x2069}, /* */
};

bool escape_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (code >= hidden[i].first && code <= hidden[i].last) return true;
    }
    return false;
}

/* ---- what each format's readers act on ---- */

typedef struct Pair {
    const char *from, *to;
} Pair;

/* Links, tags, code, tables, emphasis, mathematics; GitHub makes links of addresses that nothing marks. */
static const Pair md[] = {
    {"\\", "\\\\"}, {"|", "\\|"}, {"*", "\\*"},     {"`", "\\`"}, {"<", "\\<"},
    {">", "\\>"},   {"~", "\\~"}, {"$", "\\$"},     {"&", "\\&"}, {"[", "\\["},
    {"]", "\\]"},   {"_", "\\_"}, {"://", "\\://"}, {"@", "\\@"}, {"www.", "www\\."},
};

/* [ and * would be taken by the \\ before them. */
static const Pair latex[] = {
    {"\\", "\\textbackslash{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "{''}"},
    {"`", "\\textasciigrave{}"},
    {"[", "{[}"},
    {"]", "{]}"},
    {"*", "{*}"},
    {"±", "$\\pm$"},
    {"≈", "$\\approx$"},
    {"×", "$\\times$"},
};

/* No markup is read in a string. */
static const Pair quoted[] = {{"\\", "\\\\"}, {"\"", "\\\""}};
static const Pair csv[] = {{"\"", "\"\""}};
static const Pair sql[] = {{"'", "''"}};
static const Pair xml[] = {
    {"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
/* Only "<" could end the data or begin a comment. In JSON it stands in strings alone. */
static const Pair script[] = {{"<", "\\u003c"}};

typedef struct Format {
    const Pair *pairs;
    size_t n;
    const char *inner; /* what stays as it is between two letters or digits */
    const char *kept;  /* controls that stay as they are */
    const char *blank; /* controls that become a blank; the others are shown by number */
    bool numbers;      /* hidden characters are written as \u001b, which its readers turn back */
} Format;

#define PAIRS(list) list, sizeof(list) / sizeof *(list)

static const Format formats[ESCAPE_FORMATS] = {
    [ESCAPE_SCREEN] = {NULL, 0, "", "\t\n", "", false},
    [ESCAPE_LINE] = {NULL, 0, "", "", "\t\n\r", false},
    [ESCAPE_MD] = {PAIRS(md), "_", "", "\t\n\r", false},
    [ESCAPE_LATEX] = {PAIRS(latex), "", "", "\t\n\r", false},
    [ESCAPE_TYPST] = {PAIRS(quoted), "", "", "\t\n\r", false},
    [ESCAPE_CSV] = {PAIRS(csv), "", "\t\n", "\r", false},
    [ESCAPE_SQL] = {PAIRS(sql), "", "\t\n", "\r", false},
    [ESCAPE_XML] = {PAIRS(xml), "", "", "\t\n\r", false},
    [ESCAPE_JSON] = {PAIRS(quoted), "", "", "", true},
    [ESCAPE_IN_JSON] = {NULL, 0, "", "\n", "", true},
    [ESCAPE_SCRIPT] = {PAIRS(script), "", "\n", "", true},
};

/* ---- characters ---- */

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t escape_decode(const char *s, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*s;
    const size_t n = sequence_length(first);
    *code = n > 1 ? first & (0x7fU >> n) : first;
    for (size_t i = 1; i < n; i++) {
        const unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0U) != 0x80U) return 0;
        *code = *code << 6 | (next & 0x3fU);
    }
    if (n == 0 || *code < least[n] || *code > 0x10ffff) return 0;
    return *code >= 0xd800 && *code <= 0xdfff ? 0 : n; /* surrogates */
}

void escape_trim(char *text)
{
    const size_t n = strlen(text);
    size_t first = n;
    uint32_t code;
    while (first > 0 && n - first < 3 && ((unsigned char)text[first - 1] & 0xc0U) == 0x80U) first--;
    if (first > 0 && (unsigned char)text[first - 1] >= 0xc0 &&
        !escape_decode(text + first - 1, &code))
        text[first - 1] = 0;
}

void escape_repair(char *text)
{
    for (uint32_t code; *text;) {
        const size_t n = escape_decode(text, &code);
        if (n == 0) *text = '?';
        text += n ? n : 1;
    }
}

/* No table has these; "www." begins with the one letter that is left out. */
static bool is_plain(char c)
{
    return c == ' ' || (isalnum((unsigned char)c) && c != 'w' && (unsigned char)c < 0x80);
}

static bool is_edge(const char *text, const char *at)
{
    return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
}

static const Pair *find(const Format *format, const char *text, const char *at)
{
    for (size_t i = 0; i < format->n; i++) {
        const Pair *pair = &format->pairs[i];
        if (*pair->from != *at || strncmp(at, pair->from, strlen(pair->from)) != 0) continue;
        if (!strchr(format->inner, *at) || is_edge(text, at)) return pair;
    }
    return NULL;
}

static bool among(const char *controls, uint32_t code)
{
    return code > 0 && code < 0x80 && strchr(controls, (int)code);
}

/* "\x1b", "\u202e", and "\x9b" of a byte that is no character; its backslash is written as the
 * format has it. */
static void put_number(Text *out, EscapeFormat format, const char *at, size_t n, uint32_t code)
{
    char shown[16];
    if (formats[format].numbers) {
        text_printf(out, "\\u%04x", n ? (unsigned)code : 0xfffdU);
        return;
    }
    if (n <= 1)
        snprintf(shown, sizeof shown, "\\x%02x", (unsigned)(unsigned char)*at);
    else
        snprintf(shown, sizeof shown, "\\u%04x", (unsigned)code);
    escape_put(out, format, shown);
}

/* Returns how many bytes of `at` are done. */
static size_t put_one(Text *out, EscapeFormat format, const char *text, const char *at)
{
    const Format *f = &formats[format];
    const Pair *pair = find(f, text, at);
    if (pair) {
        text_puts(out, pair->to);
        return strlen(pair->from);
    }
    uint32_t code;
    const size_t n = escape_decode(at, &code);
    if (n > 0 && (!escape_hidden(code) || among(f->kept, code)))
        text_append(out, at, n);
    else if (n > 0 && among(f->blank, code))
        text_puts(out, " ");
    else
        put_number(out, format, at, n, code);
    return n ? n : 1;
}

void escape_put(Text *out, EscapeFormat format, const char *text)
{
    for (const char *at = text; *at;) {
        const char *from = at;
        while (is_plain(*at)) at++;
        if (at > from) text_append(out, from, (size_t)(at - from));
        if (*at) at += put_one(out, format, text, at);
    }
}

/* ---- shells ---- */

/* Characters that act without being seen would not survive being shown and copied. */
static bool must_be_numbered(const char *argument)
{
    for (uint32_t code; *argument;) {
        const size_t n = escape_decode(argument, &code);
        if (n == 0 || escape_hidden(code)) return true;
        argument += n;
    }
    return false;
}

/* $'a\033b', with numbers for quotes too: whoever looks for the end of a word need not know of
 * backslashes. */
static void put_numbered(Text *text, const char *argument)
{
    text_puts(text, "$'");
    for (uint32_t code; *argument;) {
        const size_t n = escape_decode(argument, &code), bytes = n ? n : 1;
        const bool plain = n > 0 && !escape_hidden(code) && code != '\'' && code != '\\';
        if (plain) text_append(text, argument, bytes);
        for (size_t i = 0; !plain && i < bytes; i++)
            text_printf(text, "\\%03o", (unsigned)(unsigned char)argument[i]);
        argument += bytes;
    }
    text_puts(text, "'");
}

void escape_shell(Text *text, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=,./:@%^";
    if (*argument && argument[strspn(argument, plain)] == 0) {
        text_puts(text, argument);
        return;
    }
    if (must_be_numbered(argument)) {
        put_numbered(text, argument);
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
