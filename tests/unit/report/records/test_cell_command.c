/* A cell's command asks for what the cell was asked for, and for nothing that is usual. */
#include "report/records/cell_command.h"
#include "with_cmocka.h"

#include <string.h>

static void expect(const Config *config, const char *field, const char *value, const char *command)
{
    Text text = {0};
    Record *record = NULL;
    assert_int_equal(record_new(&record, config), ST_OK);
    cell_command(&text, record, field, value);
    assert_string_equal(text_str(&text), command);
    text_free(&text);
    json_decref(record);
}

static void test_usual_values_are_left_out(void **state)
{
    (void)state;
    Config config;
    config_defaults(&config);
    expect(&config, NULL, NULL, "roofstep bench --size small");
    assert_int_equal(model_spec_preset(&config.model, "tiny"), ST_OK);
    config.ctx = 256;
    config.warmup = 1;
    expect(&config, NULL, NULL, "roofstep bench --size tiny --ctx 256 --warmup 1");
}

static void test_another_value(void **state)
{
    (void)state;
    Config config;
    config_defaults(&config);
    config.precision = PRECISION_BF16;
    expect(&config, "precision", "fp16", "roofstep bench --size small --precision fp16");
    expect(&config, "exec", "graph", "roofstep bench --size small --precision bf16 --exec graph");
}

/* A size that is no preset is its dimensions. */
static void test_custom_dimensions(void **state)
{
    (void)state;
    Config config;
    config_defaults(&config);
    config.model.d_model = 64;
    strcpy(config.model.size, "custom");
    Text text = {0};
    Record *record = NULL;
    assert_int_equal(record_new(&record, &config), ST_OK);
    cell_command(&text, record, NULL, NULL);
    assert_non_null(strstr(text_str(&text), " --d-model 64"));
    assert_null(strstr(text_str(&text), "--size"));
    text_free(&text);
    json_decref(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_values_are_left_out),
        cmocka_unit_test(test_another_value),
        cmocka_unit_test(test_custom_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
