/* What is written as a config.json is read back as the same model. */
#include "config/model_json.h"
#include "small_architectures.h"

static void check_round_trip(const ModelSpec *spec, const char *name)
{
    CLEANUP(text_free) Text text = {0};
    ModelSpec back = {0};
    assert_int_equal(model_json_write(spec, &text), ST_OK);
    if (model_file_parse(&back, text_str(&text), text.n, name) != ST_OK)
        fail_msg("%s: %s: %s", name, status_message(), text_str(&text));
    if (strcmp(model_spec_hash(spec).s, model_spec_hash(&back).s) != 0)
        fail_msg("%s is another model after %s", name, text_str(&text));
    assert_int_equal(back.positions, spec->positions);
    assert_null(strstr(text_str(&text), "\"head_dim\":null"));
}

static void test_small(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        const Config c = small_architecture(i);
        check_round_trip(&c.model, small_architectures[i].name);
    }
}

static void test_bundled(void **state)
{
    (void)state;
    for (const ModelFile *file = model_file_bundled; file->name; file++) {
        ModelSpec spec;
        assert_int_equal(model_file_load(&spec, file->name), ST_OK);
        check_round_trip(&spec, file->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_bundled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
