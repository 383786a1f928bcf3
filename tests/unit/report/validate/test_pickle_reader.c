/* Pickles that no writer of ours makes: nested deeply, within themselves, the same values over and
 * over. */
#include "base/json_reader.h"
#include "report/validate/validate.h"
#include "with_cmocka.h"

#include <string.h>

static const char start[] = "\x80\x02";

static void put(Text *out, const char *bytes, size_t n)
{
    text_append(out, bytes, n);
}

#define PUT(out, literal) put(out, literal, sizeof(literal) - 1)

static void repeat(Text *out, const char *bytes, size_t n, int times)
{
    for (int i = 0; i < times; i++) put(out, bytes, n);
}

#define REPEAT(out, literal, times) repeat(out, literal, sizeof(literal) - 1, times)

static Text begin(void)
{
    Text text = {0};
    put(&text, start, 2);
    return text;
}

static void expect_read(Text *text, size_t size)
{
    json_t *json = NULL;
    PUT(text, ".");
    const Status status = pickle_reader_parse(&json, "some.pickle", text);
    if (status != ST_OK) print_error("%s\n", status_message());
    assert_int_equal(status, ST_OK);
    assert_int_equal(json_is_object(json) ? json_object_size(json) : json_array_size(json), size);
    json_decref(json);
    text_free(text);
}

static void expect_refused(Text *text, const char *why)
{
    json_t *json = NULL;
    PUT(text, ".");
    assert_true(pickle_reader_parse(&json, "some.pickle", text) != ST_OK);
    if (!strstr(status_message(), why)) print_error("%s\n", status_message());
    assert_non_null(strstr(status_message(), why));
    assert_null(json);
    text_free(text);
}

/* Lists, dictionaries filled and made, pairs: each on its own way. */
static void test_depth(void **state)
{
    (void)state;
    static const int depths[] = {16, 17, 200000};
    for (int d = 0; d < 3; d++) {
        Text t[4] = {begin(), begin(), begin(), begin()};
        REPEAT(&t[0], "](", depths[d]);
        REPEAT(&t[0], "e", depths[d]);
        REPEAT(&t[1], "}(X\1\0\0\0a", depths[d]);
        PUT(&t[1], "K\1");
        REPEAT(&t[1], "u", depths[d]);
        REPEAT(&t[2], "(X\1\0\0\0a", depths[d]);
        PUT(&t[2], "K\1");
        REPEAT(&t[2], "d", depths[d]);
        PUT(&t[3], "K\1");
        REPEAT(&t[3], "K\1\x86", depths[d]);
        for (int i = 0; i < 4; i++) {
            if (d == 0)
                expect_read(&t[i], i == 3 ? 2 : 1);
            else
                expect_refused(&t[i], "nested too deeply");
        }
    }
}

static void test_within_itself(void **state)
{
    (void)state;
    Text own = begin(), other = begin(), twice = begin(), recalled = begin();
    PUT(&own, "]q\0(h\0e");
    expect_refused(&own, "added to where it is referred to");
    PUT(&other, "]q\0(]q\1(h\0ee");
    expect_refused(&other, "added to where it is referred to");
    PUT(&twice, "]q\0q\1(](h\0ee");
    expect_refused(&twice, "memo out of order");
    PUT(&recalled, "](]q\0h\0(K\1ee");
    expect_refused(&recalled, "added to where it is referred to");
}

/* What is shared once it is whole is no harm; a Python that numbers a list before it is filled
 * none either. */
static void test_shared(void **state)
{
    (void)state;
    Text after = begin(), before = begin();
    PUT(&after, "](](K\1K\2eq\0h\0h\0e");
    expect_read(&after, 3);
    PUT(&before, "]q\0(]q\1(K\1eh\1h\1e");
    expect_read(&before, 3);
}

/* 2^14 values in 15 levels and under 200 bytes, each of which a reader may walk over. */
static void test_written_out(void **state)
{
    (void)state;
    const size_t room = json_reader_room();
    for (int small = 0; small < 2; small++) {
        Text text = begin();
        PUT(&text, "](K\1eq\0");
        for (char i = 0; i < 13; i++) {
            const char level[] = {'0', ']', '(', 'h', i, 'h', i, 'e', 'q', (char)(i + 1)};
            put(&text, level + 1, sizeof level - 1);
        }
        json_reader_set_room(small ? 512 << 10 : room);
        /* what is below the last list stays on the stack */
        expect_refused(&text, small ? "the same values too often" : "it ends too early");
    }
    json_reader_set_room(room);
}

static void test_marks(void **state)
{
    (void)state;
    const size_t room = json_reader_room();
    Text text = begin();
    REPEAT(&text, "(", 1 << 20);
    json_reader_set_room(1 << 20);
    expect_refused(&text, "not enough memory to read some.pickle");
    json_reader_set_room(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),  cmocka_unit_test(test_within_itself),
        cmocka_unit_test(test_shared), cmocka_unit_test(test_written_out),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
