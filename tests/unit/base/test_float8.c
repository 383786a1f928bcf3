#include "base/float8.h"
#include "with_cmocka.h"

#include <math.h>

static const Float8 formats[] = {{3, 7, 0x7e}, {2, 15, 0x7b}};
enum { N_FORMATS = 2 };

/* By the definition of such a float, in double. */
static double value(Float8 f, int code)
{
    const int exponent = code >> f.mantissa & (0x7f >> f.mantissa);
    const double fraction = ldexp(code & ((1 << f.mantissa) - 1), -f.mantissa);
    const double size =
        exponent ? ldexp(1 + fraction, exponent - f.bias) : ldexp(fraction, 1 - f.bias);
    return code & 0x80 ? -size : size;
}

static void test_every_code(void **state)
{
    (void)state;
    for (int i = 0; i < N_FORMATS; i++) {
        const Float8 f = formats[i];
        for (int code = 0; code < 256; code++) {
            const float x = float8_from(f, (uint8_t)code);
            if ((code & 0x7f) <= (int)f.largest) {
                assert_true((double)x == value(f, code) && (signbit(x) != 0) == (code >= 0x80));
                assert_int_equal(float8_to(f, x), code);
            } else if (i == 1 && (code & 0x7f) == 0x7c) {
                assert_true(isinf(x));
            } else {
                assert_true(isnan(x));
            }
        }
    }
    assert_true(float8_largest(FLOAT8_E4M3) == 448 && float8_largest(FLOAT8_E5M2) == 57344);
    assert_true(float8_step(FLOAT8_E4M3) == 0x1p-9F && float8_step(FLOAT8_E5M2) == 0x1p-16F);
}

/* Between neighbours the nearer one, in the middle the even one. */
static void test_rounding(void **state)
{
    (void)state;
    for (int i = 0; i < N_FORMATS; i++) {
        const Float8 f = formats[i];
        for (int code = 0; code < (int)f.largest; code++) {
            const double low = value(f, code), high = value(f, code + 1);
            const float middle = (float)((low + high) / 2);
            assert_int_equal(float8_to(f, middle), code + (code & 1));
            assert_int_equal(float8_to(f, nextafterf(middle, 0)), code);
            assert_int_equal(float8_to(f, nextafterf(middle, INFINITY)), code + 1);
            assert_int_equal(float8_to(f, -middle), 0x80 | (code + (code & 1)));
        }
    }
}

static void test_beyond(void **state)
{
    (void)state;
    for (int i = 0; i < N_FORMATS; i++) {
        const Float8 f = formats[i];
        const float large[] = {nextafterf(float8_largest(f), INFINITY), 1e30F, INFINITY};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(float8_to(f, large[k]), f.largest);
            assert_int_equal(float8_to(f, -large[k]), 0x80 | f.largest);
        }
        assert_true(isnan(float8_from(f, float8_to(f, NAN))));
        assert_int_equal(float8_to(f, 1e-40F), 0);
        assert_int_equal(float8_to(f, -1e-40F), 0x80);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
