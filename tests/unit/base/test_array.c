#include "base/array.h"
#include "with_cmocka.h"

#include <stdint.h>
#include <stdlib.h>

/* Every element that was added is there, whatever the steps in which the array grew. */
static void test_grows(void **state)
{
    (void)state;
    for (size_t more = 1; more < 40; more += 7) {
        size_t *list = NULL, n = 0;
        while (n < 5000) {
            assert_int_equal(array_grow(&list, n, more, sizeof *list), ST_OK);
            for (size_t i = 0; i < more; i++, n++) list[n] = n;
        }
        for (size_t i = 0; i < n; i++) assert_int_equal(list[i], i);
        free(list);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    int *list = NULL;
    assert_int_equal(array_grow(&list, 0, 3, sizeof *list), ST_OK);
    int *const before = list;
    assert_int_equal(array_grow(&list, 3, SIZE_MAX - 2, sizeof *list), ST_NO_MEMORY);
    assert_int_equal(array_grow(&list, 3, SIZE_MAX / 4, sizeof *list), ST_NO_MEMORY);
    assert_int_equal(array_grow(&list, 3, SIZE_MAX / 8, sizeof *list), ST_NO_MEMORY);
    assert_ptr_equal(list, before);
    free(list);
}

static void test_first_from(void **state)
{
    (void)state;
    static const struct {
        int64_t key;
        int other;
    } list[] = {{-3, 0}, {2, 1}, {2, 2}, {9, 3}};
    static const struct {
        int64_t key;
        size_t first;
    } cases[] = {{-9, 0}, {-3, 0}, {-2, 1}, {2, 1}, {3, 3}, {9, 3}, {10, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(array_first_from(list, 4, sizeof *list, cases[i].key), cases[i].first);
    assert_int_equal(array_first_from(NULL, 0, sizeof *list, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grows),
                                       cmocka_unit_test(test_too_many),
                                       cmocka_unit_test(test_first_from)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
