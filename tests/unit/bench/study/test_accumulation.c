/* The sums that everybody quotes, to the digits that are printed, and the same by plain C. */
#include "base/float16.h"
#include "bench/study/accumulation.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const AccumulationWay *way(const char *name)
{
    for (int i = 0; i < accumulation_n_ways; i++) {
        if (strcmp(accumulation_ways[i].name, name) == 0) return &accumulation_ways[i];
    }
    fail_msg("no way %s", name);
    return NULL;
}

static void printed(const char *name, AccumulationOrder order, const char *expected)
{
    char text[32];
    snprintf(text, sizeof text, "%.4f", accumulation_sum(way(name), order, 1000, 0.01));
    if (strcmp(text, expected) != 0) fail_msg("%s: %s, not %s", name, text, expected);
}

static void test_the_four_figures(void **state)
{
    (void)state;
    printed("fp32 += fp32", ACCUMULATION_PLAIN, "10.0001");
    printed("fp16 += fp16", ACCUMULATION_PLAIN, "9.9531");
    printed("fp32 += fp16", ACCUMULATION_PLAIN, "10.0021");
    printed("fp32 += fp32(fp16)", ACCUMULATION_PLAIN, "10.0021");
    printed("bf16 += bf16", ACCUMULATION_PLAIN, "4.0000"); /* 4 + 0.01 is 4 from there on */
    printed("fp32 += bf16", ACCUMULATION_PLAIN, "10.0098");
    printed("fp32 += fp32", ACCUMULATION_KAHAN, "10.0000");
    printed("bf16 += bf16", ACCUMULATION_PAIRWISE, "10.0000");
}

/* Counts and values that nobody quotes, in the types of the language. */
static void test_against_plain_c(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 7, 1000, 12345};
    static const double values[] = {0.01, -3.7, 1e-5, 123.456};
    for (int c = 0; c < 5; c++) {
        for (int v = 0; v < 4; v++) {
            float f32 = 0, bf16 = 0, mixed = 0;
            for (int64_t i = 0; i < counts[c]; i++) {
                f32 += (float)values[v];
                bf16 = float16_from_bf16(
                    float16_to_bf16(bf16 + float16_from_bf16(float16_to_bf16((float)values[v]))));
                mixed += float16_from_f16(float16_to_f16((float)values[v]));
            }
            const AccumulationOrder o = ACCUMULATION_PLAIN;
            assert_true(accumulation_sum(way("fp32 += fp32"), o, counts[c], values[v]) ==
                        (double)f32);
            assert_true(accumulation_sum(way("bf16 += bf16"), o, counts[c], values[v]) ==
                        (double)bf16);
            assert_true(accumulation_sum(way("fp32 += fp16"), o, counts[c], values[v]) ==
                        (double)mixed);
        }
    }
}

/* Better orders of the same additions are never worse here, and 0.5 is exact in all of them. */
static void test_orders(void **state)
{
    (void)state;
    for (int w = 0; w < accumulation_n_ways; w++) {
        const AccumulationWay *x = &accumulation_ways[w];
        const double exact = 1000 * accumulation_sum(x, ACCUMULATION_PLAIN, 1, 0.01);
        const double plain = fabs(accumulation_sum(x, ACCUMULATION_PLAIN, 1000, 0.01) - exact);
        assert_true(fabs(accumulation_sum(x, ACCUMULATION_KAHAN, 1000, 0.01) - exact) <= plain);
        assert_true(fabs(accumulation_sum(x, ACCUMULATION_PAIRWISE, 1000, 0.01) - exact) <= plain);
        /* no more digits than the sum has */
        const int count = plan_dtype_size(x->sum) == 1 ? 8 : 256;
        for (int o = 0; o < ACCUMULATION_ORDERS; o++)
            assert_true(accumulation_sum(x, (AccumulationOrder)o, count, 0.5) == 0.5 * count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_four_figures),
        cmocka_unit_test(test_against_plain_c),
        cmocka_unit_test(test_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
