/* What a tree takes is what counts, not the length of its text; what it gave back counts no longer. */
#include "base/json_reader.h"
#include "base/text.h"
#include "with_cmocka.h"

#include <string.h>

enum { ROOM = 1 << 20 };

/* "[{},{},...]" */
static Text empty_objects(int n)
{
    Text text = {0};
    text_puts(&text, "[");
    for (int i = 0; i < n; i++) text_puts(&text, i ? ",{}" : "{}");
    text_puts(&text, "]");
    return text;
}

static Status parse(json_t **out, const char *text, json_error_t *error)
{
    return json_reader_parse(out, "some.json", text, strlen(text), 0, error);
}

static void test_tree_is_counted(void **state)
{
    (void)state;
    json_t *json = NULL;
    Text text = empty_objects(20000);
    assert_true(text.n < ROOM / 10);
    json_reader_set_room(ROOM);
    assert_int_equal(parse(&json, text_str(&text), NULL), ST_USAGE);
    assert_null(json);
    assert_non_null(strstr(status_message(), "not enough memory to read some.json (60001 bytes"));
    json_reader_set_room(100 * ROOM);
    assert_int_equal(parse(&json, text_str(&text), NULL), ST_OK);
    assert_int_equal(json_array_size(json), 20000);
    json_decref(json);
    text_free(&text);
}

/* All trees that are kept count together, and none that was let go of. */
static void test_trees_add_up(void **state)
{
    (void)state;
    json_t *json[8] = {0};
    int kept = 0;
    Text text = empty_objects(1000);
    json_reader_set_room(ROOM);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(parse(&json[0], text_str(&text), NULL), ST_OK);
        json_decref(json[0]);
    }
    while (kept < 8 && parse(&json[kept], text_str(&text), NULL) == ST_OK) kept++;
    assert_in_range(kept, 2, 7);
    for (int i = 0; i < kept; i++) json_decref(json[i]);
    assert_int_equal(parse(&json[0], text_str(&text), NULL), ST_OK);
    json_decref(json[0]);
    text_free(&text);
}

/* jansson 2.14 goes on after its buffer could not grow and looks for the end of a string behind it. */
static void test_a_string_without_room(void **state)
{
    (void)state;
    json_t *json = NULL;
    Text text = {0};
    text_puts(&text, "[\"");
    text_fill(&text, 'x', 300 << 10);
    text_puts(&text, "\"]");
    json_reader_set_room(
        700 << 10); /* for a buffer of 256 KiB and the string of it, not for the next buffer */
    assert_int_equal(parse(&json, text_str(&text), NULL), ST_USAGE);
    assert_null(json);
    json_reader_set_room(2 * ROOM);
    assert_int_equal(parse(&json, text_str(&text), NULL), ST_OK);
    assert_int_equal(json_string_length(json_array_get(json, 0)), 300 << 10);
    json_decref(json);
    text_free(&text);
}

static void test_errors_are_told_apart(void **state)
{
    (void)state;
    json_t *json = NULL;
    json_error_t error;
    json_reader_set_room(ROOM);
    assert_int_equal(parse(&json, "[1, 2", &error), ST_OK);
    assert_null(json);
    assert_int_equal(json_error_code(&error), json_error_premature_end_of_input);
    json_reader_set_room(1);
    assert_int_equal(parse(&json, "[1, 2", &error), ST_USAGE);
}

static void test_most(void **state)
{
    (void)state;
    json_reader_set_room(SIZE_MAX);
    assert_true(json_reader_room() == JSON_READER_MOST);
    json_reader_set_room(0);
    assert_true(json_reader_room() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_is_counted),
        cmocka_unit_test(test_trees_add_up),
        cmocka_unit_test(test_a_string_without_room),
        cmocka_unit_test(test_errors_are_told_apart),
        cmocka_unit_test(test_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
