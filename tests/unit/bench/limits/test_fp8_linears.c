/* `--fp8-layers auto`: on a CPU fp8 is emulated and slower in every layer: the measurement must find that. */
#include "bench/limits/fp8_linears.h"
#include "config/option_value.h"
#include "fp8_harness.h"

static int64_t settle(const Config *c)
{
    Config settled;
    ASSERT_OK(fp8_linears_settle(c, BACKEND_cpu, 0, 2, &settled));
    const int64_t linears = settled.fp8_layers;
    settled.fp8_layers = c->fp8_layers;
    for (int id = 0; id < CELL_FIELD_COUNT; id++)
        assert_int_equal(option_value_compare_cells((OptionId)id, &settled, c), 0);
    return linears;
}

static void test_measured(void **state)
{
    (void)state;
    Config c = fp8_config(FP8_RECIPE_CURRENT);
    c.batch = 3;
    c.model.num_layers = 3;
    c.fp8_layers = CONFIG_LINEARS_AUTO;
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe += 3) { /* current, block */
        c.fp8_recipe = (Fp8Recipe)recipe;
        assert_int_equal(settle(&c), CONFIG_LINEARS_NONE);
    }
    c.mode = MODE_FWD;
    assert_int_equal(settle(&c), CONFIG_LINEARS_NONE);
    c.exec = EXEC_EAGER;
    c.mode = MODE_TRAIN;
    assert_int_equal(settle(&c), CONFIG_LINEARS_NONE);
}

/* What was named is as it was; no device, no measurement. */
static void test_not_measured(void **state)
{
    (void)state;
    Config c = fp8_config(FP8_RECIPE_CURRENT), settled;
    c.fp8_layers = 1 << LINEAR_W2;
    ASSERT_OK(fp8_linears_settle(&c, BACKEND_cpu, -1, 2, &settled));
    assert_int_equal(settled.fp8_layers, 1 << LINEAR_W2);
    c.fp8_layers = CONFIG_LINEARS_AUTO;
    assert_int_equal(fp8_linears_settle(&c, BACKEND_cpu, -1, 2, &settled), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "name the layers"));
    c.precision = PRECISION_BF16;
    ASSERT_OK(fp8_linears_settle(&c, BACKEND_cpu, -1, 2, &settled));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured),
                                       cmocka_unit_test(test_not_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
