#include "mutator.h"

#include "base/rng.h"

#include <string.h>
#include <zlib.h>

int mutator_below(Mutator *m, int n)
{
    return (int)rng_below(m->seed, m->number, m->drawn++, n);
}

static int below_size(Mutator *m, size_t n)
{
    return mutator_below(m, n < MUTATOR_MOST ? (int)n : MUTATOR_MOST);
}

/* Replaces `cut` bytes from `at` on. */
static void splice(Text *text, size_t at, size_t cut, const char *bytes, size_t n)
{
    Text made = {0};
    if (text->n - cut + n >= MUTATOR_MOST) return;
    text_append(&made, text_str(text), at);
    text_append(&made, bytes, n);
    text_append(&made, text_str(text) + at + cut, text->n - at - cut);
    text_free(text);
    *text = made;
}

/* A piece of the text: at most 64 bytes, or, now and then, any length. */
static size_t piece_of(Mutator *m, size_t n, size_t *at)
{
    *at = (size_t)below_size(m, n + 1);
    const size_t left = n - *at, most = mutator_below(m, 4) && left > 64 ? 64 : left;
    return (size_t)below_size(m, most + 1);
}

/* ---- bytes and pieces ---- */

static void change_byte(Mutator *m, Text *text)
{
    static const char likely[] = "\0\n\r\t \"'\\{}[]:,.-+eE019@<>&=|#$/\177\200\302\355\360\377";
    if (text->n == 0) return;
    char *c = &text->data[below_size(m, text->n)];
    switch (mutator_below(m, 3)) {
    case 0:
        *c = (char)(*c ^ (1 << mutator_below(m, 8)));
        break;
    case 1:
        *c = likely[mutator_below(m, (int)sizeof likely - 1)];
        break;
    default:
        *c = (char)mutator_below(m, 256);
    }
}

static void remove_piece(Mutator *m, Text *text)
{
    size_t at;
    const size_t n = piece_of(m, text->n, &at);
    splice(text, at, n, "", 0);
}

static void cut_end(Mutator *m, Text *text)
{
    const size_t at = (size_t)below_size(m, text->n + 1);
    splice(text, at, text->n - at, "", 0);
}

/* Of itself or of another of the pool, to the same place or to another. */
static void insert_piece(Mutator *m, Text *text)
{
    const bool own = m->n_pool == 0 || mutator_below(m, 2);
    const Text *from = own ? text : &m->pool[mutator_below(m, m->n_pool)];
    Text piece = {0};
    size_t at;
    const size_t n = piece_of(m, from->n, &at);
    text_append(&piece, text_str(from) + at, n);
    const size_t to = own && mutator_below(m, 2) ? at : (size_t)below_size(m, text->n + 1);
    for (int times = mutator_below(m, 20) ? 1 : 40; times > 0; times--)
        splice(text, to, 0, text_str(&piece), piece.n);
    text_free(&piece);
}

static void insert_token(Mutator *m, Text *text)
{
    static const char *const tokens[] = {
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "null",
        "true",
        "{}",
        "[]",
        "\\u0000",
        "\\ud800",
        "\\n",
        "\\\"",
        "\r\n",
        "\n\n",
        "--",
        "=",
        "1-9*2",
        "%s%n",
        "../",
        "\xef\xbb\xbf",
        "\xe2\x80\xa8",
        "\xc2\x85",
        "\x1b[2J",
        "=cmd|'/C x'!A1",
        "</script>",
        "NaN",
        "-Infinity",
        "\"a\":1,",
        "@@ x\n",
    };
    const char *token = tokens[mutator_below(m, (int)(sizeof tokens / sizeof *tokens))];
    splice(text, (size_t)below_size(m, text->n + 1), 0, token, strlen(token));
}

/* ---- lines and numbers ---- */

static void change_line(Mutator *m, Text *text)
{
    const char *data = text_str(text);
    size_t from = (size_t)below_size(m, text->n + 1);
    while (from > 0 && data[from - 1] != '\n') from--;
    const char *end = memchr(data + from, '\n', text->n - from);
    const size_t n = end ? (size_t)(end - data) + 1 - from : text->n - from;
    Text line = {0};
    text_append(&line, data + from, n);
    const int kind = mutator_below(m, 3); /* doubled, removed, moved */
    if (kind != 0) splice(text, from, n, "", 0);
    const size_t to = kind == 0 ? from : (size_t)below_size(m, text->n + 1);
    if (kind != 1) splice(text, to, 0, text_str(&line), line.n);
    text_free(&line);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *const extremes[] = {
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "1e12",
    "1000000000000",
    "1e18",
    "1e300",
    "1e308",
    "1.7976931348623157e308",
    "-1e308",
    "1e309",
    "4.9e-324",
    "1e-320",
    "0.1",
    "1e-9",
    "-0",
    "-0.0",
    "0.30000000000000004",
    "00",
    "1.",
    "99999999999999999999999999999999999999999",
};

static void change_number(Mutator *m, Text *text)
{
    const char *data = text_str(text);
    size_t at = (size_t)below_size(m, text->n + 1);
    while (at < text->n && !is_digit(data[at])) at++;
    if (at == text->n) return;
    while (at > 0 && (is_digit(data[at - 1]) || strchr(".-+eE", data[at - 1]) != NULL) &&
           data[at - 1])
        at--;
    size_t end = at;
    while (end < text->n && data[end] && (is_digit(data[end]) || strchr(".-+eE", data[end]))) end++;
    const char *with = extremes[mutator_below(m, (int)(sizeof extremes / sizeof *extremes))];
    splice(text, at, end - at, with, strlen(with));
}

/* ---- all of it ---- */

void mutator_change(Mutator *m, Text *text)
{
    static void (*const changes[])(Mutator *, Text *) = {
        change_byte,  change_byte,  remove_piece, cut_end,       insert_piece,
        insert_piece, insert_token, change_line,  change_number, change_number,
    };
    enum { CHANGES = sizeof changes / sizeof *changes };
    if (mutator_below(m, 2) && mutator_json_change(m, text)) return;
    changes[mutator_below(m, CHANGES)](m, text);
}

static bool is_packed(const Text *text)
{
    return text->n > 2 && text->data[0] == '\x1f' && text->data[1] == '\x8b';
}

/* Whole, or nothing: as much of a packed text as an input may have. */
static void unpack(Text *text)
{
    static unsigned char out[MUTATOR_MOST];
    z_stream zip = {.next_in = (unsigned char *)text->data,
                    .avail_in = (unsigned)text->n,
                    .next_out = out,
                    .avail_out = sizeof out};
    if (inflateInit2(&zip, 16 + MAX_WBITS) != Z_OK) return;
    if (inflate(&zip, Z_FINISH) == Z_STREAM_END) {
        text_clear(text);
        text_append(text, (const char *)out, zip.total_out);
    }
    inflateEnd(&zip);
}

static void pack(Text *text)
{
    static unsigned char out[MUTATOR_MOST];
    z_stream zip = {.next_in = (unsigned char *)text->data,
                    .avail_in = (unsigned)text->n,
                    .next_out = out,
                    .avail_out = sizeof out};
    if (deflateInit2(&zip, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return;
    if (deflate(&zip, Z_FINISH) == Z_STREAM_END) {
        text_clear(text);
        text_append(text, (const char *)out, zip.total_out);
    }
    deflateEnd(&zip);
}

void mutator_make(Mutator *m, Text *text)
{
    const Text *from = &m->pool[mutator_below(m, m->n_pool)];
    text_clear(text);
    text_append(text, text_str(from), from->n);
    const bool packed = is_packed(from);
    if (packed && mutator_below(m, 4)) unpack(text);
    for (int changes = 1 + mutator_below(m, 5); changes > 0; changes--) mutator_change(m, text);
    if (packed && !is_packed(text) && mutator_below(m, 4)) pack(text);
}
