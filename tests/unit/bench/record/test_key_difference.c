#include "bench/record/key_difference.h"
#include "with_cmocka.h"

#include <string.h>

static int differ(const char *a, const char *b, const char *expected)
{
    Text text = {0};
    const int n = key_difference_put(&text, a, b);
    assert_string_equal(text_str(&text), expected);
    text_free(&text);
    return n;
}

static void fields_that_differ_are_named(void **state)
{
    (void)state;
    assert_int_equal(differ("size=tiny ctx=128 steps=5", "size=tiny ctx=128 steps=5", ""), 0);
    assert_int_equal(differ("size=tiny ctx=128 steps=5", "size=tiny ctx=256 steps=10",
                            "ctx (128, 256), steps (5, 10)"),
                     2);
    assert_int_equal(differ("size=tiny ranks=2", "size=tiny recompute=block",
                            "ranks (2, -), recompute (-, block)"),
                     2);
    assert_int_equal(differ("ctx=12", "ctx=128", "ctx (12, 128)"), 1);
}

static void add(RecordSet *set, const char *key)
{
    Record *record = json_pack("{s:s}", "cell", key);
    assert_int_equal(record_set_add(set, record), ST_OK);
    json_decref(record);
}

static void the_nearest_cells_are_found(void **state)
{
    (void)state;
    RecordSet a, b;
    const Record *of_a = NULL, *of_b = NULL;
    assert_int_equal(record_set_init(&a, NULL), ST_OK);
    assert_int_equal(record_set_init(&b, NULL), ST_OK);
    add(&a, "size=tiny ctx=64 steps=5");
    add(&a, "size=tiny ctx=128 steps=5");
    assert_false(key_difference_nearest(&a, &b, &of_a, &of_b));
    add(&b, "size=small ctx=512 steps=10");
    add(&b, "size=tiny ctx=128 steps=10");
    assert_true(key_difference_nearest(&a, &b, &of_a, &of_b));
    assert_ptr_equal(of_a, record_set_at(&a, 1));
    assert_ptr_equal(of_b, record_set_at(&b, 1));
    record_set_free(&a);
    record_set_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_differ_are_named),
        cmocka_unit_test(the_nearest_cells_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
