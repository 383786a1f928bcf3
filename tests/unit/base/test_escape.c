/* Every class of characters through every format: what comes out is UTF-8, holds nothing that acts
 * without being seen, and what people write stays as it is. */
#include "base/escape.h"
#include "base/json_text.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Line breaks and tabs that a format keeps. */
static const char *kept(EscapeFormat format)
{
    switch (format) {
    case ESCAPE_SCREEN:
    case ESCAPE_CSV:
    case ESCAPE_SQL:
        return "\t\n";
    case ESCAPE_IN_JSON:
    case ESCAPE_SCRIPT:
        return "\n";
    default:
        return "";
    }
}

static void check_clean(const char *text, EscapeFormat format, const char *from)
{
    for (uint32_t code; *text;) {
        const size_t n = escape_decode(text, &code);
        if (n == 0) fail_msg("format %d: '%s' is not UTF-8 any more", (int)format, from);
        if (escape_hidden(code) && !(code < 0x80 && strchr(kept(format), (int)code)))
            fail_msg("format %d: U+%04X came through", (int)format, (unsigned)code);
        text += n;
    }
}

static void check_text(const char *text)
{
    for (int f = 0; f < ESCAPE_FORMATS; f++) {
        Text out = {0};
        escape_put(&out, (EscapeFormat)f, text);
        assert_int_equal(text_status(&out), ST_OK);
        check_clean(text_str(&out), (EscapeFormat)f, text);
        text_free(&out);
    }
}

static size_t encode(char *s, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    s[n] = 0;
    s[0] = (char)code;
    for (size_t i = n; n > 1 && i-- > 0; code >>= 6)
        s[i] = (char)(i ? 0x80 | (code & 0x3f) : lead[n] | code);
    return n;
}

static void no_character_acts_unseen(void **state)
{
    (void)state;
    char text[8], inside[16];
    for (uint32_t code = 1; code <= 0x10ffff; code += code < 0x3000 ? 1 : 251) {
        uint32_t again;
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const size_t n = encode(text, code);
        assert_int_equal(n, escape_decode(text, &again));
        assert_int_equal(again, code);
        snprintf(inside, sizeof inside, "a%sb", text);
        check_text(text);
        check_text(inside);
    }
}

/* A terminal in an 8-bit locale takes the byte 9B for ESC [. */
static void bytes_that_are_no_text_are_shown(void **state)
{
    (void)state;
    static const char *const broken[] = {"\x9b"
                                         "31m",
                                         "\xff",
                                         "\xc0\xaf",
                                         "\xe2\x80",
                                         "\xed\xa0\x80",
                                         "\xf4\x90\x80\x80",
                                         "\xf0\x80\x80\x9b",
                                         "\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        uint32_t code;
        assert_int_equal(escape_decode(broken[i], &code), 0);
        check_text(broken[i]);
    }
    for (int byte = 0x80; byte < 0x100; byte++) check_text((char[]){'a', (char)byte, 'b', 0});
}

typedef struct Case {
    EscapeFormat format;
    const char *from, *to;
} Case;

static const Case cases[] = {
    {ESCAPE_LINE, "a\x1b[31m\x7f\r\nb", "a\\x1b[31m\\x7f  b"},
    {ESCAPE_LINE, "\xc2\x9b \x9b \xe2\x80\xae", "\\u009b \\x9b \\u202e"},
    {ESCAPE_LINE, "é 中 😀 ± `*'\"\\", "é 中 😀 ± `*'\"\\"},
    {ESCAPE_SCREEN, "a\tb\nc\rd\x07", "a\tb\nc\\x0dd\\x07"},
    {ESCAPE_MD, "[x](javascript:y) ![i](z)", "\\[x\\](javascript:y) !\\[i\\](z)"},
    {ESCAPE_MD, "<b>&amp;`|\n~~s~~", "\\<b\\>\\&amp;\\`\\| \\~\\~s\\~\\~"},
    {ESCAPE_MD, "http://e www.e.com a_b _c_ \x1b", "http\\://e www\\.e.com a_b \\_c\\_ \\\\x1b"},
    {ESCAPE_LATEX, "\\write18{x}%^^5c\xe2\x80\xa8",
     "\\textbackslash{}write18\\{x\\}\\%\\textasciicircum{}\\textasciicircum{}5c"
     "\\textbackslash{}u2028"},
    {ESCAPE_TYPST, "\"#x\\\xc2\x85\v", "\\\"#x\\\\\\\\u0085\\\\x0b"},
    {ESCAPE_CSV, "a\"b\nc\r", "a\"\"b\nc "},
    {ESCAPE_SQL, "it's\n.shell x\x1b", "it''s\n.shell x\\x1b"},
    {ESCAPE_XML, "<a b='c'>&\x01", "&lt;a b=&#39;c&#39;&gt;&amp;\\x01"},
    {ESCAPE_JSON, "\"\\\x1b\xff é", "\\\"\\\\\\u001b\\ufffd é"},
    {ESCAPE_IN_JSON, "{\"a\": \"\\\"\x7f\xe2\x80\xa9\"}", "{\"a\": \"\\\"\\u007f\\u2029\"}"},
    {ESCAPE_SCRIPT, "[\"</script><!--\"]", "[\"\\u003c/script>\\u003c!--\"]"},
};

static void formats_neutralise_what_their_readers_act_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text out = {0};
        escape_put(&out, cases[i].format, cases[i].from);
        assert_string_equal(text_str(&out), cases[i].to);
        text_free(&out);
    }
}

static void plain_text_stays(void **state)
{
    (void)state;
    static const char plain[] = "Zoë 中文 Привет 12.5 ms, small";
    for (int f = 0; f < ESCAPE_FORMATS; f++) {
        Text out = {0};
        escape_put(&out, (EscapeFormat)f, plain);
        assert_string_equal(text_str(&out), plain);
        text_free(&out);
    }
}

/* Nothing is lost in JSON, and jansson reads what we write. */
static void json_says_the_same(void **state)
{
    (void)state;
    char text[8];
    for (uint32_t code = 1; code < 0x3000; code++) {
        encode(text, code);
        Text out = {0};
        text_puts(&out, "\"");
        escape_put(&out, ESCAPE_JSON, text);
        text_puts(&out, "\"");
        json_t *value = json_loads(text_str(&out), JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_string_equal(json_string_value(value), text);
        char *dump = json_text_dumps(value, JSON_ENCODE_ANY);
        check_clean(dump, ESCAPE_IN_JSON, text);
        json_t *again = json_loads(dump, JSON_DECODE_ANY, NULL);
        assert_true(json_equal(value, again));
        json_decref(again);
        json_decref(value);
        free(dump);
        text_free(&out);
    }
}

static void a_cut_character_is_taken_off(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"ab", "ab"},
                                           {"é", "é"},
                                           {"a\xc3", "a"},
                                           {"a\xe4\xb8", "a"},
                                           {"a中", "a中"},
                                           {"\xf0\x9f\x98", ""},
                                           {"a😀", "a😀"},
                                           {"\x80\x80\x80\x80", "\x80\x80\x80\x80"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", pairs[i][0]);
        escape_trim(text);
        assert_string_equal(text, pairs[i][1]);
    }
}

static void broken_text_is_repaired(void **state)
{
    (void)state;
    char text[] = "a\xff é\xe2\x80";
    escape_repair(text);
    assert_string_equal(text, "a? é??");
    json_t *value = json_text_string("x\x9b");
    assert_string_equal(json_string_value(value), "x?");
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_character_acts_unseen),
        cmocka_unit_test(bytes_that_are_no_text_are_shown),
        cmocka_unit_test(formats_neutralise_what_their_readers_act_on),
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(a_cut_character_is_taken_off),
        cmocka_unit_test(broken_text_is_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
