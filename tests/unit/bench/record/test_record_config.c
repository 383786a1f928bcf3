#include "bench/record/record_config.h"
#include "config/model_file.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static Config asked(void)
{
    Config c;
    config_defaults(&c);
    c.attention = ATTENTION_NAIVE;
    return c;
}

/* What decides the plan comes back; `used` is what the record says of attention. */
static void expect_back(const Config *config)
{
    Config back;
    Record *record = NULL;
    assert_int_equal(record_new(&record, config), ST_OK);
    assert_int_equal(record_put_text(record, "attention", "naive"), ST_OK);
    assert_int_equal(record_config(record, &back), ST_OK);
    char wanted[RECORD_KEY_SIZE], there[RECORD_KEY_SIZE];
    back.warmup = config->warmup;
    back.steps = config->steps;
    record_key_of_config(config, wanted);
    record_key_of_config(&back, there);
    assert_string_equal(wanted, there);
    json_decref(record);
}

static void cells_of_presets(void **state)
{
    (void)state;
    Config c = asked();
    expect_back(&c);
    c.model.num_layers = 3;
    snprintf(c.model.size, sizeof c.model.size, "custom");
    c.ctx = 77;
    c.batch = 5;
    c.accumulate = 4;
    c.precision = PRECISION_FP16;
    c.exec = EXEC_EAGER;
    c.mode = MODE_FWD_BWD;
    c.recompute = 2;
    expect_back(&c);
    c.precision = PRECISION_FP8;
    c.fp8_recipe = FP8_RECIPE_DELAYED;
    expect_back(&c);
}

static void cells_of_model_files(void **state)
{
    (void)state;
    for (int i = 0; model_file_names[i]; i++) {
        Config c = asked();
        assert_int_equal(model_file_load(&c.model, model_file_names[i]), ST_OK);
        expect_back(&c);
    }
}

static void refuse(Record *record, const char *why)
{
    Config config;
    assert_int_equal(record_config(record, &config), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), why));
    json_decref(record);
}

static Record *record_of(const Config *config)
{
    Record *record = NULL;
    assert_int_equal(record_new(&record, config), ST_OK);
    return record;
}

static void what_is_no_cell_of_a_known_model(void **state)
{
    (void)state;
    Config c = asked();
    assert_int_equal(model_file_load(&c.model, "gpt2"), ST_OK);
    c.model.num_layers = 3; /* its own file no more, under its name */
    refuse(record_of(&c), "its gpt2 was another configuration");
    snprintf(c.model.size, sizeof c.model.size, "mine");
    snprintf(c.model.name, sizeof c.model.name, "mine");
    refuse(record_of(&c), "not bundled");
    config_attention_defaults(&c);
    refuse(record_of(&c), "no step of a model");
    refuse(json_object(), "no step of a model");
    c = asked();
    Record *record = record_of(&c);
    assert_int_equal(record_put_text(record, "attention", "nosuch"), ST_OK);
    refuse(record, "names no attention");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_presets),
        cmocka_unit_test(cells_of_model_files),
        cmocka_unit_test(what_is_no_cell_of_a_known_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
