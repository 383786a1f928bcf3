/* Things that go by the same text, in one pass. */
#include "base/text_groups.h"
#include "with_cmocka.h"

#include <stdio.h>

static void test_links(void **state)
{
    (void)state;
    static const char *const texts[] = {"a", "b", NULL, "a", "c", "a", "b"};
    static const size_t next[] = {3, 6, 7, 5, 7, 7, 7};
    static const bool leads[] = {true, true, false, false, true, false, false};
    TextGroups alike;
    Text text = {0};
    assert_int_equal(text_groups_init(&alike, 7), ST_OK);
    for (size_t i = 0; i < 7; i++) {
        if (!texts[i]) continue;
        text_puts(&text, texts[i]);
        assert_int_equal(text_groups_put(&alike, i, &text), ST_OK);
        assert_int_equal(text.n, 0);
    }
    text_free(&text);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(text_groups_next(&alike, i), next[i]);
        assert_int_equal(text_groups_leads(&alike, i), leads[i]);
    }
    text_groups_free(&alike);
}

static void test_none(void **state)
{
    (void)state;
    TextGroups alike;
    assert_int_equal(text_groups_init(&alike, 0), ST_OK);
    assert_int_equal(alike.n, 0);
    text_groups_free(&alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_links), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
