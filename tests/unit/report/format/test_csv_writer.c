#include "report/format/csv_reader.h"
#include "report/format/csv_writer.h"
#include "with_cmocka.h"

#include <string.h>

static void check_field(const char *text, const char *want)
{
    Text out = {0};
    csv_writer_field(&out, text);
    assert_string_equal(text_str(&out), want);
    text_free(&out);
}

static void formulas_are_text(void **state)
{
    (void)state;
    check_field("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"");
    check_field("+1+cmd", "\"'+1+cmd\"");
    check_field("-2+3", "\"'-2+3\"");
    check_field("@SUM(A1)", "\"'@SUM(A1)\"");
    check_field("  =1", "\"'  =1\"");
    check_field("\t=1", "\"'\t=1\"");
    check_field("\r=1", "\"' =1\"");
    check_field("\n=1", "\"'\n=1\"");
    check_field("＝1", "\"'＝1\"");
    check_field("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
    check_field("-1e", "\"'-1e\"");
    check_field("-1e5x", "\"'-1e5x\"");
    check_field("--1", "\"'--1\"");
}

static void numbers_stay_numbers(void **state)
{
    (void)state;
    static const char *const plain[] = {"-5",  "+5",    "-0.25", "-1e-05", "1.5E+10",
                                        "-.5", "12,5",  "-12.",  "0",      "-",
                                        "",    "small", "a=b",   "a-b c+d"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        Text out = {0};
        csv_writer_field(&out, plain[i]);
        if (strchr(plain[i], ','))
            assert_string_equal(text_str(&out), "\"12,5\"");
        else
            assert_string_equal(text_str(&out), plain[i]);
        text_free(&out);
    }
}

/* What we write we read: the mark before a formula is all that is added. */
static void our_reader_reads_it(void **state)
{
    (void)state;
    static const char *const texts[] = {"a,b", "\"q\"", "two\nlines", "=1", "", "x\ty", "é"};
    enum { N = sizeof texts / sizeof *texts };
    Text out = {0};
    for (int i = 0; i < N; i++) {
        if (i) text_puts(&out, ",");
        csv_writer_field(&out, texts[i]);
    }
    text_puts(&out, "\n");
    CsvReader reader;
    bool more = false;
    csv_reader_open(&reader, text_str(&out), out.n);
    assert_int_equal(csv_reader_next(&reader, &more), ST_OK);
    assert_true(more);
    assert_int_equal(reader.n, N);
    for (int i = 0; i < N; i++) {
        const char *got = csv_reader_field(&reader, i);
        assert_string_equal(got + (*texts[i] == '='), texts[i]);
    }
    csv_reader_close(&reader);
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_text),
        cmocka_unit_test(numbers_stay_numbers),
        cmocka_unit_test(our_reader_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
