/* Results and environments by their names, in sets small and large, while they grow. */
#include "bench/record/record_set.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static RecordSet set;

static void add_environment(int id, int number)
{
    char name[16];
    snprintf(name, sizeof name, "e%d", id);
    json_t *environment = json_pack("{s:s, s:i}", "id", name, "number", number);
    assert_int_equal(record_set_add_environment(&set, environment), ST_OK);
    json_decref(environment);
}

static void add_result(int cell, int id, int number)
{
    char name[16], key[32];
    snprintf(name, sizeof name, "e%d", id);
    snprintf(key, sizeof key, "cell=%d", cell);
    Record *record =
        json_pack("{s:s, s:s, s:i}", "cell", key, "environment_id", name, "number", number);
    assert_int_equal(record_set_add(&set, record), ST_OK);
    json_decref(record);
}

static int number_of(const json_t *object)
{
    return object ? (int)json_integer_value(json_object_get(object, "number")) : -1;
}

static int find(int cell)
{
    char key[32];
    snprintf(key, sizeof key, "cell=%d", cell);
    return number_of(record_set_find(&set, key));
}

/* Asked after every addition: what is new is found, of results the last, of environments the first. */
static void test_find(void **state)
{
    (void)state;
    static const int sizes[] = {1, 15, 16, 17, 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        assert_int_equal(record_set_init(&set, NULL), ST_OK);
        for (int i = 0; i < sizes[s]; i++) {
            add_environment(i, i);
            add_environment(i, 1000 + i);
            add_result(i / 2, i, i);
            assert_int_equal(find(i / 2), i);
            assert_int_equal(number_of(record_set_environment(
                                 &set, record_set_at(&set, record_set_size(&set) - 1))),
                             i);
            assert_int_equal(find(i + 1), -1);
        }
        for (int i = 0; i < sizes[s]; i++)
            assert_int_equal(find(i / 2), i % 2 == 0 && i + 1 < sizes[s] ? i + 1 : i);
        record_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
