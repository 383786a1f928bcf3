#include "base/human.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void bytes(void **state)
{
    (void)state;
    assert_string_equal(human_bytes(0).s, "0 B");
    assert_string_equal(human_bytes(1023).s, "1023 B");
    assert_string_equal(human_bytes(1024).s, "1.00 KiB");
    assert_string_equal(human_bytes(1.25 * 0x1p30).s, "1.25 GiB");
    assert_string_equal(human_bytes(1023.9 * 0x1p20).s, "1.00 GiB");
    assert_string_equal(human_bytes(500 * 0x1p20).s, "500 MiB");
    assert_string_equal(human_bytes(-3 * 0x1p30).s, "-3.00 GiB");
    assert_string_equal(human_bytes(NAN).s, "-");
}

static void seconds(void **state)
{
    (void)state;
    assert_string_equal(human_seconds(0).s, "0 s");
    assert_string_equal(human_seconds(1.5).s, "1.500 s");
    assert_string_equal(human_seconds(0.01234).s, "12.34 ms");
    assert_string_equal(human_seconds(2.5e-5).s, "25.00 us");
    assert_string_equal(human_seconds(3e-9).s, "3.000 ns");
    assert_string_equal(human_seconds(0.9999999).s, "1.000 s");
    assert_string_equal(human_seconds(1234).s, "1234 s");
    assert_string_equal(human_seconds(NAN).s, "-");
}

static void etas(void **state)
{
    (void)state;
    assert_string_equal(human_eta(48.4).s, "48s");
    assert_string_equal(human_eta(59.7).s, "1m 00s");
    assert_string_equal(human_eta(200).s, "3m 20s");
    assert_string_equal(human_eta(7500).s, "2h 05m");
    assert_string_equal(human_eta(NAN).s, "-");
    assert_string_equal(human_eta(INFINITY).s, "-");
    assert_string_equal(human_eta(-1).s, "-");
}

static void counts(void **state)
{
    (void)state;
    assert_string_equal(human_count(0).s, "0");
    assert_string_equal(human_count(999).s, "999");
    assert_string_equal(human_count(1000).s, "1,000");
    assert_string_equal(human_count(128625408).s, "128,625,408");
    assert_string_equal(human_count(-1234567).s, "-1,234,567");
    assert_string_equal(human_count(INT64_MIN).s, "-9,223,372,036,854,775,808");
    assert_string_equal(human_whole(-1234567).s, "-1,234,567");
    assert_string_equal(human_whole(NAN).s, "-");
    assert_string_equal(human_whole(0x1p63).s, "-");
    assert_string_equal(human_whole(-INFINITY).s, "-");
}

static void si_units(void **state)
{
    (void)state;
    assert_string_equal(human_si(4.2e9).s, "4.20 G");
    assert_string_equal(human_si(999.9e9).s, "1.00 T");
    assert_string_equal(human_si(7).s, "7.00");
    assert_string_equal(human_si(NAN).s, "-");
}

static void numbers(void **state)
{
    (void)state;
    assert_string_equal(human_mean_count(2).s, "2");
    assert_string_equal(human_mean_count(12345).s, "12345");
    assert_string_equal(human_mean_count(1.0 / 3 + 1.0 / 3 + 1.0 / 3).s, "1");
    assert_string_equal(human_mean_count(2.5).s, "2.500");
    assert_string_equal(human_mean_count(0).s, "0");
    assert_string_equal(human_mean_count(NAN).s, "-");
    assert_string_equal(human_number(1234.5, 4).s, "1234");
    assert_string_equal(human_number(12.345, 4).s, "12.35");
    assert_string_equal(human_number(9.9996, 4).s, "10.00");
    assert_string_equal(human_number(0.0012345, 3).s, "0.00123");
    assert_string_equal(human_number(-5, 2).s, "-5.0");
    assert_string_equal(human_number(0, 4).s, "0");
    assert_string_equal(human_number(123456789, 4).s, "123456789");
    assert_string_equal(human_number(1e300, 4).s, "1.000e+300");
    assert_string_equal(human_number(NAN, 4).s, "-");
    assert_string_equal(human_number(INFINITY, 4).s, "inf");
}

static void add_up(uint64_t need, uint64_t there)
{
    double a, b, c;
    char unit[3][8];
    const HumanShortage s = human_shortage(need, there);
    assert_int_equal(sscanf(s.need.s, "%lf %7s", &a, unit[0]), 2);
    assert_int_equal(sscanf(s.there.s, "%lf %7s", &b, unit[1]), 2);
    assert_int_equal(sscanf(s.lack.s, "%lf %7s", &c, unit[2]), 2);
    assert_string_equal(unit[0], unit[1]);
    assert_string_equal(unit[0], unit[2]);
    if (fabs(a - b - c) > 1e-6 || !(c > 0)) fail_msg("%s - %s = %s", s.need.s, s.there.s, s.lack.s);
}

static void shortages(void **state)
{
    const double gib = 1024.0 * 1024 * 1024;
    (void)state;
    HumanShortage s = human_shortage((uint64_t)(7.93 * gib), (uint64_t)(7.85 * gib));
    assert_string_equal(s.need.s, "8120.32 MiB");
    assert_string_equal(s.there.s,
                        "8038.39 MiB");         /* down: freeing what is lacking must be enough */
    assert_string_equal(s.lack.s, "81.93 MiB"); /* not 0.09 GiB: two digits at least */
    s = human_shortage((uint64_t)(1054.7196 * gib), UINT64_C(8) << 30);
    assert_string_equal(s.need.s, "1054.72 GiB"); /* not 1.04 TiB beside 0.00 TiB */
    assert_string_equal(s.there.s, "8.00 GiB");
    assert_string_equal(s.lack.s, "1046.72 GiB");
    s = human_shortage(UINT64_C(9) << 50, UINT64_C(8) << 30);
    assert_string_equal(s.need.s, "9.00 PiB");
    assert_string_equal(s.there.s, "8.00 GiB");
    assert_string_equal(s.lack.s, "9.00 PiB");
    s = human_shortage((UINT64_C(8) << 30) + (15 << 20), UINT64_C(8) << 30);
    assert_string_equal(s.need.s, "8207.00 MiB");
    assert_string_equal(s.there.s, "8192.00 MiB");
    assert_string_equal(s.lack.s, "15.00 MiB");
    assert_string_equal(human_shortage(1001, 1000).lack.s, "1 B");
    assert_string_equal(human_shortage(UINT64_C(9) << 30, 0).lack.s, "9.00 GiB");
    for (uint64_t i = 1; i < UINT64_C(1) << 40; i = i * 3 + 7) {
        add_up((UINT64_C(5) << 32) + i, UINT64_C(5) << 32);
        add_up((UINT64_C(5) << 32) + i, (UINT64_C(5) << 32) - i % 12345678);
        add_up(i, i / 2);
    }
}

static void quotations(void **state)
{
    (void)state;
    char text[200];
    assert_string_equal(human_quote("abc").s, "'abc'");
    assert_string_equal(human_plain("abc").s, "abc");
    assert_string_equal(human_quote("").s, "''");
    assert_string_equal(human_quote("a\nb\tc\x7f").s, "'a?b?c?'");
    memset(text, 'x', sizeof text);
    text[199] = 0;
    assert_int_equal(strlen(human_quote(text).s), 64 + 5);
    text[64] = 0;
    assert_int_equal(strlen(human_quote(text).s), 64 + 2);
    /* A two-byte letter across the cut is left out whole. */
    memset(text, 'x', sizeof text);
    memcpy(text + 63, "\xc2\xb1", 2);
    text[199] = 0;
    assert_string_equal(human_quote(text).s + 60, "xxxx...'");
    /* A path's end says which file it is. */
    assert_string_equal(human_path("a/b\n").s, "'a/b?'");
    strcpy(text + 100, "/model.json");
    assert_string_equal(human_path(text).s + strlen(human_path(text).s) - 13, "x/model.json'");
    assert_true(strncmp(human_path(text).s, "'...x", 5) == 0);
    assert_int_equal(strlen(human_path(text).s), 64 + 5);
    memcpy(text + 111 - 65, "\xc2\xb1", 2);
    assert_int_equal(strlen(human_path(text).s), 63 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),      cmocka_unit_test(seconds),   cmocka_unit_test(etas),
        cmocka_unit_test(counts),     cmocka_unit_test(si_units),  cmocka_unit_test(numbers),
        cmocka_unit_test(quotations), cmocka_unit_test(shortages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
