/* Values by hand in Python, in double:
 *
 *     f = theta ** (-2 * i / R); w = 2 * math.pi / f             # llama3: old positions, low and high factor
 *     f if w < old / high else f / factor if w > old / low else  # s = (old / w - low) / (high - low)
 *         (1 - s) * f / factor + s * f */
#include "model/rope_frequency.h"
#include "with_cmocka.h"

#include <math.h>

static void expect(const ModelSpec *spec, int64_t pair, double want)
{
    const double got = rope_frequency(spec, pair);
    if (!(fabs(got - want) <= 1e-14 * want))
        fail_msg("pair %d: %.17g, not %.17g", (int)pair, got, want);
}

static void test_plain(void **state)
{
    (void)state;
    ModelSpec spec = {.d_model = 64, .num_heads = 1, .rope = {.theta = 1e4, .share = 0.25}};
    expect(&spec, 0, 1); /* of a quarter of the head: R = 16 */
    expect(&spec, 3, 0.03162277660168379);
    spec.head_dim = 128; /* free of d_model / num_heads */
    spec.rope = (Rope){.theta = 1e6, .share = 1};
    expect(&spec, 63, 1.2409377607517195e-06);
}

/* The project's own model keeps the bits that its tables always had. */
static void test_own_model(void **state)
{
    (void)state;
    ModelSpec spec = model_spec_defaults;
    assert_int_equal(model_spec_preset(&spec, "small"), ST_OK);
    for (int64_t i = 0; i < 32; i++) {
        assert_true(rope_frequency(&spec, i) == pow(10000, -2.0 * (double)i / 64));
    }
}

static void test_linear(void **state)
{
    (void)state;
    const ModelSpec spec = {
        .d_model = 8,
        .num_heads = 1,
        .rope = {.theta = 1e4, .share = 1, .scaling = ROPE_SCALING_LINEAR, .factor = 4}};
    expect(&spec, 0, 0.25);
    expect(&spec, 1, 0.025);
}

/* Llama 3.2's own values: heads of 64. */
static void test_llama3(void **state)
{
    (void)state;
    const ModelSpec spec = {.d_model = 2048,
                            .num_heads = 32,
                            .rope = {.theta = 5e5,
                                     .share = 1,
                                     .scaling = ROPE_SCALING_LLAMA3,
                                     .factor = 32,
                                     .low_factor = 1,
                                     .high_factor = 4,
                                     .original_positions = 8192}};
    expect(&spec, 0, 1);
    expect(&spec, 1, 0.6636012376960885);
    expect(&spec, 14, 0.0032114459947525913); /* the last that stays */
    expect(&spec, 15, 0.001290547928209264);
    expect(&spec, 16, 0.00042955679655936815);
    expect(&spec, 17, 9.70828780262767e-05);
    expect(&spec, 18, 1.9461638184831125e-05); /* divided by 32, as all that follow */
    expect(&spec, 31, 9.418306725434909e-08);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_own_model),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_llama3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
