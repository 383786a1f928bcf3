#include "bench/record/record.h"
#include "bench/record/record_check.h"
#include "config/model_file.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

/* A model is told by the hash of what it computes: its folder may have another name. */
static void a_model_is_known_by_its_hash(void **state)
{
    (void)state;
    Config c;
    Record *r;
    int64_t x = 0;
    char key[RECORD_KEY_SIZE], renamed[RECORD_KEY_SIZE], changed[RECORD_KEY_SIZE], word[64];
    config_defaults(&c);
    assert_int_equal(model_file_load(&c.model, "llama-3.2-1b"), ST_OK);
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_string_equal(record_text(r, "size"), "llama-3.2-1b");
    assert_string_equal(record_text(r, "model"), model_spec_hash(&c.model).s);
    assert_true(record_int(r, "kv_heads", &x) && x == 8);
    assert_false(record_int(r, "dropout", &x));
    assert_true(record_asked(r, "model", word, sizeof word));
    assert_string_equal(word, model_spec_hash(&c.model).s);
    assert_int_equal(record_check(r), ST_OK);
    json_decref(r);
    record_key_of_config(&c, key);
    snprintf(c.model.size, sizeof c.model.size, "my llama");
    record_key_of_config(&c, renamed);
    assert_string_equal(key, renamed);
    c.model.norm_eps = 1e-6;
    record_key_of_config(&c, changed);
    assert_string_not_equal(key, changed);
}

static void dropout_is_told(void **state)
{
    (void)state;
    Config c;
    Record *r;
    int64_t x = -1;
    config_defaults(&c);
    assert_int_equal(model_file_load(&c.model, "gpt2"), ST_OK);
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_true(record_int(r, "dropout", &x) && x == 0);
    json_decref(r);
}

/* Results of before there were micro-batches have one. */
static void one_micro_batch_is_left_out(void **state)
{
    (void)state;
    Config c;
    char key[RECORD_KEY_SIZE];
    config_defaults(&c);
    record_key_of_config(&c, key);
    assert_null(strstr(key, "accumulate"));
    c.accumulate = 4;
    record_key_of_config(&c, key);
    assert_non_null(strstr(key, " accumulate=4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_known_by_its_hash),
        cmocka_unit_test(dropout_is_told),
        cmocka_unit_test(one_micro_batch_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
