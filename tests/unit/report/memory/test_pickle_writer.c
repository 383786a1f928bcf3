/* The bytes of pickles and JSON: numbers at the edges of their opcodes, texts referred to, long lists. */
#include "op_harness.h"
#include "report/memory/pickle_writer.h"

#include <unistd.h>

static char path[64];

static void open_writer(PickleWriter *w, bool pickle)
{
    snprintf(path, sizeof path, "/tmp/roofstep-pickle-%d", (int)getpid());
    ASSERT_OK(pickle_writer_open(w, path, pickle));
}

/* What the file holds; the caller frees it. */
static Text closed(PickleWriter *w)
{
    Text text = {0};
    ASSERT_OK(pickle_writer_finish(w));
    ASSERT_OK(text_read_file(&text, path, 1 << 26));
    unlink(path);
    return text;
}

static void expect(Text text, const char *bytes, size_t n)
{
    assert_int_equal(text.n, n);
    assert_memory_equal(text_str(&text), bytes, n);
    text_free(&text);
}

#define EXPECT(text, literal) expect(text, literal, sizeof(literal) - 1)

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *bytes;
        size_t n;
    } cases[] = {{0, "K\x00", 2},
                 {255, "K\xff", 2},
                 {256, "M\x00\x01", 3},
                 {65535, "M\xff\xff", 3},
                 {65536, "J\x00\x00\x01\x00", 5},
                 {-1, "J\xff\xff\xff\xff", 5},
                 {INT32_MAX, "J\xff\xff\xff\x7f", 5},
                 {INT32_MIN, "J\x00\x00\x00\x80", 5},
                 {INT64_C(1) << 31, "\x8a\x05\x00\x00\x00\x80\x00", 7},
                 {INT64_C(1) << 32, "\x8a\x05\x00\x00\x00\x00\x01", 7},
                 {-(INT64_C(1) << 39), "\x8a\x05\x00\x00\x00\x00\x80", 7},
                 {INT64_MAX, "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PickleWriter w;
        open_writer(&w, true);
        pickle_writer_int(&w, cases[i].value);
        Text text = closed(&w);
        assert_int_equal(text.n, cases[i].n + 3); /* PROTO 2 and STOP around it */
        assert_memory_equal(text_str(&text) + 2, cases[i].bytes, cases[i].n);
        text_free(&text);
    }
}

static void put_some(PickleWriter *w)
{
    pickle_writer_begin(w, '{');
    pickle_writer_key(w, "a");
    pickle_writer_text(w, "b\"\\\n");
    pickle_writer_key(w, "b");
    pickle_writer_begin(w, '[');
    for (int i = 0; i < 2; i++) {
        if (pickle_writer_known(w, "list\n1")) continue;
        pickle_writer_begin(w, '[');
        pickle_writer_text(w, "a");
        pickle_writer_bool(w, true);
        pickle_writer_end(w);
        pickle_writer_share(w, "list\n1");
    }
    pickle_writer_pair(w, 1, 2);
    pickle_writer_end(w);
    pickle_writer_end(w);
}

static void test_pickle(void **state)
{
    (void)state;
    PickleWriter w;
    open_writer(&w, true);
    put_some(&w);
    EXPECT(closed(&w), "\x80\x02("
                       "X\x01\x00\x00\x00"
                       "aq\x00"
                       "X\x04\x00\x00\x00"
                       "b\"\\\nq\x01"
                       "X\x01\x00\x00\x00"
                       "bq\x02"
                       "](](h\x00\x88"
                       "eq\x03h\x03K\x01K\x02\x86"
                       "ed.");
}

static void test_json(void **state)
{
    (void)state;
    PickleWriter w;
    open_writer(&w, false);
    put_some(&w);
    EXPECT(closed(&w), "{\"a\":\"b\\\"\\\\\\u000a\",\"b\":[[\"a\",true],[\"a\",true],[1,2]]}\n");
}

/* No more than a thousand are appended at once. */
static void test_long_list(void **state)
{
    (void)state;
    PickleWriter w;
    open_writer(&w, true);
    pickle_writer_begin(&w, '[');
    for (int i = 0; i < 2500; i++) pickle_writer_int(&w, 7);
    pickle_writer_end(&w);
    Text text = closed(&w);
    assert_int_equal(text.n, 2 + 2 + 2500 * 2 + 2 * 2 + 2);
    assert_memory_equal(text_str(&text) + 4 + 2000, "e(K\x07", 4);
    text_free(&text);
}

/* More texts than a byte counts, each found again. */
static void test_many_texts(void **state)
{
    (void)state;
    PickleWriter w;
    char word[16];
    open_writer(&w, true);
    pickle_writer_begin(&w, '[');
    for (int i = 0; i < 3000; i++) {
        snprintf(word, sizeof word, "word%04d", i % 1000);
        pickle_writer_text(&w, word);
    }
    pickle_writer_end(&w);
    assert_int_equal(json_object_size(w.memo), 1000);
    Text text = closed(&w);
    const size_t first = 1000 * (1 + 4 + 8) + 256 * 2 + 744 * 5, again = 2 * (256 * 2 + 744 * 5);
    assert_int_equal(text.n, 2 + 2 + first + again + 2 * 2 + 2);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_pickle),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_long_list),
        cmocka_unit_test(test_many_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
