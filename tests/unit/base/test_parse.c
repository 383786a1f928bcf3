#include "base/parse.h"
#include "with_cmocka.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Each is refused with one line that quotes it. */
#define REFUSED(parse, out, ...)                                                        \
    do {                                                                                \
        static const char *const bad_[] = {__VA_ARGS__};                                \
        for (size_t i_ = 0; i_ < COUNT(bad_); i_++) {                                   \
            if ((parse)(bad_[i_], &(out)) != ST_USAGE) fail_msg("took '%s'", bad_[i_]); \
            assert_non_null(strchr(status_message(), '\''));                            \
            assert_null(strchr(status_message(), '\n'));                                \
        }                                                                               \
    } while (0)

static void whole_numbers(void **state)
{
    (void)state;
    int64_t x = 0;
    assert_int_equal(parse_int("128", &x), ST_OK);
    assert_int_equal(x, 128);
    assert_int_equal(parse_int("-5", &x), ST_OK);
    assert_int_equal(x, -5);
    assert_int_equal(parse_int("007", &x), ST_OK);
    assert_int_equal(x, 7);
    assert_int_equal(parse_int("9223372036854775807", &x), ST_OK);
    assert_true(x == INT64_MAX);
    assert_int_equal(parse_int("-9223372036854775808", &x), ST_OK);
    assert_true(x == INT64_MIN);
    REFUSED(parse_int, x, "", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "12a", "--1", "1\n",
            "9223372036854775808", "-9223372036854775809", "99999999999999999999999");
    assert_true(x == INT64_MIN);
}

static void real_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        double x;
    } good[] = {
        {"1e-3", 1e-3}, {"-2.5", -2.5}, {".5", 0.5},     {"3.", 3},
        {"0", 0},       {"1E6", 1e6},   {"1e-400", 0.0}, {"1.7976931348623157e308", DBL_MAX}};
    double x = 0;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(parse_real(good[i].s, &x), ST_OK);
        assert_true(x == good[i].x);
    }
    REFUSED(parse_real, x, "", ".", "-", "nan", "inf", "-inf", "1e999", "0x1p3", "1,5", "1 ", " 1",
            "1e", "+1", "1f", "infinity", "--1", "-0x1");
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        int64_t bytes;
    } good[] = {{"4096", 4096},
                {"0", 0},
                {"12B", 12},
                {"8KiB", 8192},
                {"8GiB", INT64_C(8) << 30},
                {"8G", INT64_C(8) << 30},
                {"1.5MiB", 1572864},
                {"16GB", INT64_C(16000000000)},
                {"500MB", 500000000},
                {"2k", 2048},
                {"2kB", 2000},
                {"1TiB", INT64_C(1) << 40},
                {"2TB", INT64_C(2000000000000)}};
    int64_t x = 0;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(parse_bytes(good[i].s, &x), ST_OK);
        assert_true(x == good[i].bytes);
    }
    REFUSED(parse_bytes, x, "", "GiB", "-1", "-8GiB", "8 GiB", "8Gib", "8gibi", "1e30",
            "8388608TiB", "9223372036854775808", "nan", "8GiBs", "0x10", "1e400GiB");
}

static void percentages(void **state)
{
    (void)state;
    double x = 0;
    assert_int_equal(parse_percent("1%", &x), ST_OK);
    assert_true(fabs(x - 0.01) < 1e-15);
    assert_int_equal(parse_percent("0.5%", &x), ST_OK);
    assert_true(fabs(x - 0.005) < 1e-15);
    REFUSED(parse_percent, x, "", "%", "1", "1 %", "-1%", "1%%", "1e999%", "x%");
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        double seconds;
    } good[] = {{"600", 600}, {"90s", 90},     {"3m", 180}, {"1.5m", 90},
                {"2h", 7200}, {"250ms", 0.25}, {"0", 0},    {"1e2", 100}};
    double x = 0;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(parse_seconds(good[i].s, &x), ST_OK);
        assert_true(fabs(x - good[i].seconds) < 1e-12);
    }
    REFUSED(parse_seconds, x, "", "s", "-1", "-1s", "3 m", "3min", "1d", "nan", "inf", "1e999",
            "5ss");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers), cmocka_unit_test(real_numbers), cmocka_unit_test(sizes),
        cmocka_unit_test(percentages),   cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
