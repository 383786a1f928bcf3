/* Warnings of many rows as few lines, and the marks on their rows. */
#include "report/records/row_warnings.h"
#include "with_cmocka.h"

#include <string.h>

static RecordSet set;

static void add_row(const char *first, const char *second)
{
    Record *row = json_object();
    if (first) assert_int_equal(record_warn(row, "%s", first), ST_OK);
    if (second) assert_int_equal(record_warn(row, "%s", second), ST_OK);
    assert_int_equal(record_set_add(&set, row), ST_OK);
    json_decref(row);
}

static int begin(void **state)
{
    (void)state;
    return record_set_init(&set, NULL) == ST_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    record_set_free(&set);
    return 0;
}

static void marks_are(const RowWarnings *w, size_t row, const char *want)
{
    Text text = {0};
    row_warnings_mark(w, record_set_at(&set, row), &text);
    assert_string_equal(text_str(&text), want);
    text_free(&text);
}

static void alike_but_for_numbers_is_one_line(void **state)
{
    (void)state;
    add_row("the samples vary by 6 %: take more --steps", NULL);
    add_row(NULL, NULL);
    add_row("the first took 1.5 s, the median is 900 ms in fp32",
            "the samples vary by 14 %: take more --steps");
    add_row("the first took 800 us, the median is 700 us in fp32", NULL);
    add_row("the first took 800 us, the median is 700 us in fp16", NULL);
    RowWarnings w;
    Table table = {0};
    row_warnings_find(&w, &set);
    row_warnings_put(&w, &table);
    assert_int_equal(table.n_notes, 3);
    assert_string_equal(table.notes[0].text,
                        "(1) warning: the samples vary by 6 to 14 %: take more --steps");
    assert_string_equal(table.notes[1].text, "(2) warning: the first took 800 us to 1.5 s, the "
                                             "median is 700 us to 900 ms in fp32");
    assert_string_equal(table.notes[2].text,
                        "(3) warning: the first took 800 us, the median is 700 us in fp16");
    w.unmarked = true;
    row_warnings_put(&w, &table);
    assert_string_equal(table.notes[3].text,
                        "warning: the samples vary by 6 to 14 %: take more --steps");
    marks_are(&w, 0, " (1)");
    marks_are(&w, 1, "");
    marks_are(&w, 2, " (1, 2)");
    marks_are(&w, 4, " (3)");
    table_free(&table);
}

static void too_many_kinds_are_told(void **state)
{
    (void)state;
    RowWarnings w;
    Table table = {0};
    char text[] = "kind a";
    for (char k = 'a'; k <= 'z'; k++) {
        text[5] = k;
        add_row(text, NULL);
    }
    row_warnings_find(&w, &set);
    row_warnings_put(&w, &table);
    assert_int_equal(table.n_notes, ROW_WARNINGS_KINDS + 1);
    assert_non_null(strstr(table.notes[ROW_WARNINGS_KINDS].text, "json"));
    marks_are(&w, 25, "");
    table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alike_but_for_numbers_is_one_line, begin, end),
        cmocka_unit_test_setup_teardown(too_many_kinds_are_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
