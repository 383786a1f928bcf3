/* Narrowing by the processor's own instructions gives the bits of float16.h, and so do its two
 * halves of a float. */
#include "ops/simd_cpu/rows_cpu.h"
#include "with_cmocka.h"

#include <math.h>

enum { N = 4096 + 37 }; /* whole steps of every kernel, and some more */

/* Every sign, exponent and leading bit, with what rounds down, up, to even, and what is all but that. */
static void test_every_bf16(void **state)
{
    (void)state;
    static const uint32_t tails[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    static float src[N];
    static uint16_t dst[N];
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
        for (uint32_t first = 0; first < 0x10000; first += N) {
            for (uint32_t i = 0; i < N; i++) {
                src[i] = float16_from_bits(((first + i) & 0xffff) << 16 | tails[t]);
            }
            rows_cpu_store(dst, src, DT_BF16, N);
            for (uint32_t i = 0; i < N; i++) {
                if (dst[i] == float16_to_bf16(src[i])) continue;
                fail_msg("%08x becomes %04x instead of %04x", float16_bits(src[i]), dst[i],
                         float16_to_bf16(src[i]));
            }
        }
    }
}

/* Every length, nothing written beyond it. */
static void test_lengths(void **state)
{
    (void)state;
    float src[70];
    uint16_t dst[71];
    for (int i = 0; i < 70; i++) src[i] = (float)i / 7;
    for (int n = 0; n <= 70; n++) {
        for (int i = 0; i <= 70; i++) dst[i] = 0xabcd;
        rows_cpu_store(dst, src, DT_BF16, n);
        for (int i = 0; i < n; i++) assert_int_equal(dst[i], float16_to_bf16(src[i]));
        for (int i = n; i <= 70; i++) assert_int_equal(dst[i], 0xabcd);
    }
}

/* A float in halves comes back bit by bit, its upper half is no further from it than any bf16 is, and what is
 * not finite stays so. */
static void check_halves(uint32_t bits)
{
    const float x = float16_from_bits(bits);
    const uint16_t upper = float16_upper(x), lower = float16_lower(x);
    const float joined = float16_join(upper, lower), read = float16_from_bf16(upper);
    if (x != x) {
        assert_true(joined != joined && read != read);
        return;
    }
    if (float16_bits(joined) != bits)
        fail_msg("%08x comes back as %08x", bits, float16_bits(joined));
    const float other = float16_from_bf16(float16_to_bf16(x));
    const double off = fabs((double)read - (double)x), least = fabs((double)other - (double)x);
    if (read != other && !(off <= least)) fail_msg("%08x: %04x is not its nearest", bits, upper);
}

static void test_halves(void **state)
{
    (void)state;
    for (uint32_t upper = 0; upper < 0x10000; upper++) {
        static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1234, 0xabcd};
        for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
            check_halves(upper << 16 | lower[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_bf16),
                                       cmocka_unit_test(test_lengths),
                                       cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
