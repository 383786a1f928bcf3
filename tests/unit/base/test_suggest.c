#include "base/suggest.h"
#include "with_cmocka.h"

#include <string.h>

static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {
        {"", "", 0},           {"a", "", 1},          {"steps", "steps", 0},
        {"stepz", "steps", 1}, {"setps", "steps", 1}, {"kitten", "sitting", 3},
        {"ab", "ba", 1},       {"CTX", "ctx", 0},     {"abcd", "badc", 2},
        {"ctx", "context", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(suggest_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(suggest_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char a[1000], b[1000];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[999] = b[999] = 0;
    assert_int_equal(suggest_distance(a, b), SUGGEST_LENGTH);
    assert_int_equal(suggest_distance(a, a + 10), 0);
}

static void suggestions(void **state)
{
    (void)state;
    static const char *const words[] = {"size", "ctx", "batch", "steps", "num-layers", "lr"};
    assert_string_equal(suggest_word("stepz", words, 6), "steps");
    assert_string_equal(suggest_word("num_layer", words, 6), "num-layers");
    assert_string_equal(suggest_word("bacth", words, 6), "batch");
    assert_string_equal(suggest_word("LR", words, 6), "lr");
    assert_null(suggest_word("colour", words, 6));
    assert_null(suggest_word("x", words, 6));
    assert_null(suggest_word("", words, 6));
    assert_null(suggest_word("size", words, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
