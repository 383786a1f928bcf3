#include "bench/record/phase_fields.h"
#include "bench/record/record.h"
#include "bench/record/record_check.h"
#include "config/cell_field.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Record *make(void)
{
    Config config;
    Record *r;
    config_defaults(&config);
    assert_int_equal(model_spec_preset(&config.model, "small"), ST_OK);
    assert_int_equal(record_new(&r, &config), ST_OK);
    return r;
}

static void a_new_record_says_what_was_asked_for(void **state)
{
    (void)state;
    Record *r = make();
    int64_t n;
    assert_string_equal(record_text(r, "size"), "small");
    assert_true(record_int(r, "d_model", &n) && n == 768);
    assert_true(record_int(r, "batch", &n) && n == 4);
    assert_string_equal(record_text(r, "precision"), "fp32");
    assert_string_equal(record_text(r, "loss_scale"), "dynamic");
    assert_string_equal(record_text(r, "recompute"), "none");
    assert_int_equal(record_status(r), RECORD_FAILED);
    assert_int_equal(record_check(r), ST_OK);
    json_decref(r);
}

static void paths_reach_into_objects(void **state)
{
    (void)state;
    Record *r = make();
    double x = -1;
    int64_t n = -1;
    assert_int_equal(record_put_number(r, "forward.gpu_mean_ms", 1.5), ST_OK);
    assert_int_equal(record_put_int(r, "a.b.c", 7), ST_OK);
    assert_true(record_number(r, "forward.gpu_mean_ms", &x) && x == 1.5);
    assert_true(record_int(r, "a.b.c", &n) && n == 7);
    assert_true(record_number(r, "a.b.c", &x) && x == 7);
    assert_false(record_number(r, "a.b", &x));
    assert_false(record_int(r, "a.b.d", &n));
    assert_false(record_int(r, "size.b", &n));
    assert_false(record_int(r, "", &n));
    assert_null(record_text(r, "d_model"));
    assert_int_equal(n, 7);
    json_decref(r);
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    Record *r = make();
    double x = 3;
    assert_int_equal(record_put_number(r, "loss", NAN), ST_OK);
    assert_int_equal(record_put_number(r, "mfu", INFINITY), ST_OK);
    assert_true(json_is_null(record_value(r, "loss")));
    assert_true(json_is_null(record_value(r, "mfu")));
    assert_false(record_number(r, "loss", &x));
    assert_true(x == 3);
    assert_int_equal(record_check(r), ST_OK);
    json_decref(r);
}

static void broken_text_is_repaired(void **state)
{
    static const struct {
        const char *bytes, *repaired;
    } cases[] = {
        {"plain", "plain"},
        {"a ± b € 😀", "a ± b € 😀"},
        {"\xff\xfe", "??"},
        {"cut \xe2\x82", "cut ??"},
        {"over \xc0\xaf", "over ??"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"high \xf4\x90\x80\x80", "high ????"},
        {"low \xe0\x80\x80", "low ???"},
    };
    (void)state;
    Record *r = make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(record_put_text(r, "message", cases[i].bytes), ST_OK);
        assert_string_equal(record_text(r, "message"), cases[i].repaired);
    }
    assert_int_equal(record_warn(r, "bad \xff %d", 1), ST_OK);
    assert_string_equal(json_string_value(json_array_get(record_value(r, "warnings"), 0)),
                        "bad ? 1");
    json_decref(r);
}

static void near(const Record *r, const char *path, double expected)
{
    double x;
    assert_true(record_number(r, path, &x));
    assert_true(fabs(x - expected) <= 1e-9 * fabs(expected));
}

static void samples_become_figures(void **state)
{
    (void)state;
    Record *r = make();
    const double seconds[] = {0.010, 0.012, 0.011, 0.015};
    assert_int_equal(record_put_samples(r, "forward", seconds, 4), ST_OK);
    near(r, "forward.mean_ms", 12);
    near(r, "forward.std_ms", sqrt(14.0 / 3));
    near(r, "forward.min_ms", 10);
    near(r, "forward.max_ms", 15);
    near(r, "forward.median_ms", 11.5);
    near(r, "forward.ci95_high_ms", 12 + 3.18244630528 * sqrt(14.0 / 3) / 2);
    assert_int_equal(json_array_size(record_value(r, "forward.samples_ms")), 4);
    assert_int_equal(record_phase_status(r, "forward"), RECORD_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_check(r), ST_OK);
    json_decref(r);
}

static void one_sample_has_no_spread(void **state)
{
    (void)state;
    Record *r = make();
    const double seconds[] = {0.5}, wrong[] = {0.5, -1};
    assert_int_equal(record_put_samples(r, "step", seconds, 1), ST_OK);
    near(r, "step.mean_ms", 500);
    assert_true(json_is_null(record_value(r, "step.std_ms")));
    assert_true(json_is_null(record_value(r, "step.ci95_low_ms")));
    assert_int_equal(record_put_samples(r, "step", seconds, 0), ST_FAILED);
    assert_int_equal(record_put_samples(r, "step", wrong, 2), ST_FAILED);
    json_decref(r);
}

static void phases_have_a_status_of_their_own(void **state)
{
    (void)state;
    Record *r = make();
    assert_int_equal(record_phase_status(r, "backward"), RECORD_STATUS_COUNT);
    assert_int_equal(record_put_phase(r, "backward", RECORD_OOM, "needs more"), ST_OK);
    assert_int_equal(record_phase_status(r, "backward"), RECORD_OOM);
    assert_string_equal(record_text(r, "backward.message"), "needs more");
    json_decref(r);
}

/* Every field of a cell that changes the work changes the key. */
static void the_key_tells_cells_apart(void **state)
{
    (void)state;
    Config base, other;
    char key[RECORD_KEY_SIZE], changed[RECORD_KEY_SIZE];
    config_defaults(&base);
    record_key_of_config(&base, key);
#define CHANGE(field, value)                   \
    do {                                       \
        other = base;                          \
        other.field = value;                   \
        record_key_of_config(&other, changed); \
        assert_string_not_equal(key, changed); \
    } while (0)
    CHANGE(model.d_model, 1);
    CHANGE(model.d_ff, 1);
    CHANGE(model.num_layers, 1);
    CHANGE(model.num_heads, 1);
    CHANGE(model.vocab, 1);
    CHANGE(ctx, 1);
    CHANGE(batch, 1);
    CHANGE(device[0], 'x');
    CHANGE(mode, MODE_FWD);
    CHANGE(precision, PRECISION_BF16);
    CHANGE(attention, ATTENTION_NAIVE);
    CHANGE(exec, EXEC_EAGER);
    CHANGE(warmup, 77);
    CHANGE(steps, 77);
    CHANGE(seed, 77);
    CHANGE(threads, 77);
    CHANGE(lr, 0.5);
    CHANGE(clip, 0.5);
    CHANGE(loss_scale, 1);
    CHANGE(loss_scale, CONFIG_SCALE_NONE);
    CHANGE(blas, BLAS_OWN);
    CHANGE(memory_limit, 77);
    CHANGE(sample_time, 0.5);
    CHANGE(subject, SUBJECT_ATTENTION);
    config_attention_defaults(&base);
    record_key_of_config(&base, key);
    CHANGE(d_head, 1);
    CHANGE(heads, 2);
    CHANGE(mask, MASK_FULL);
    CHANGE(ctx, 1);
    CHANGE(attention, ATTENTION_FUSED);
    CHANGE(sample_time, 0.5);
#undef CHANGE
    other = base;
    other.timeout = 1; /* how long one waits changes nothing in the result */
    record_key_of_config(&other, changed);
    assert_string_equal(key, changed);
}

static void the_key_outlives_what_was_used(void **state)
{
    (void)state;
    Config config;
    Record *r;
    char key[RECORD_KEY_SIZE], text[32];
    config_defaults(&config);
    assert_int_equal(record_new(&r, &config), ST_OK);
    record_key_of_config(&config, key);
    assert_int_equal(record_put_text(r, "attention", "fused"), ST_OK);
    assert_string_equal(record_key(r), key);
    assert_true(record_asked(r, "attention", text, sizeof text));
    assert_string_equal(text, "auto");
    assert_true(record_asked(r, "memory_limit", text, sizeof text));
    assert_string_equal(text, "0");
    assert_false(record_asked(r, "memory", text, sizeof text));
    assert_false(record_asked(r, "tention", text, sizeof text));
    json_decref(r);
}

/* The longest values there can be must not be cut off, or two cells would look alike. */
static void the_key_has_room(void **state)
{
    (void)state;
    Config c;
    char key[RECORD_KEY_SIZE];
    memset(&c, 0, sizeof c);
    memset(c.model.size, 'x', sizeof c.model.size - 1);
    memset(c.device, 'x', sizeof c.device - 1);
    c.model.d_model = c.model.d_ff = c.model.num_layers = c.model.num_heads = c.model.vocab =
        c.ctx = c.batch = INT64_MIN;
    c.warmup = c.steps = c.seed = c.threads = c.memory_limit = INT64_MIN;
    c.lr = c.clip = -1.23456789012345e-300;
    c.loss_scale = 1.23456789012345e-300;
    c.mode = MODE_FWD_BWD;
    c.attention = ATTENTION_NAIVE;
    c.blas = BLAS_SYSTEM;
    c.sample_time = 1.23456789012345e-300;
    record_key_of_config(&c, key);
    assert_non_null(
        strstr(key, " memory_limit=-9223372036854775808 sample_time=1.23456789012345e-300"));
}

/* Attention alone has no model to tell of. */
static void attention_has_its_own_fields(void **state)
{
    (void)state;
    Config c;
    Record *r;
    int64_t x = 0;
    config_attention_defaults(&c);
    c.d_head = 33;
    c.heads = 3;
    c.mask = MASK_FULL;
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OOM, "needs more"), ST_OK);
    assert_int_equal(record_check(r), ST_OK);
    assert_true(record_int(r, "d_head", &x) && x == 33);
    assert_true(record_int(r, "heads", &x) && x == 3);
    assert_string_equal(record_text(r, "mask"), "full");
    assert_string_equal(record_text(r, "mode"), "fwd_bwd");
    static const char *const absent[] = {"size",  "d_model", "num_heads",
                                         "vocab", "lr",      "loss_scale"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        if (record_value(r, absent[i])) fail_msg("there is %s", absent[i]);
    }
    json_decref(r);
}

static void text_and_back(void **state)
{
    (void)state;
    Record *r = make(), *again;
    const double seconds[] = {0.1, 1.0 / 3, 2e-9};
    assert_int_equal(record_put_samples(r, "step", seconds, 3), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, "line\nbreak \"quoted\" ±"), ST_OK);
    char *text = record_dump(r);
    assert_non_null(text);
    assert_null(strchr(text, '\n'));
    again = json_loads(text, 0, NULL);
    assert_int_equal(record_check(again), ST_OK);
    char *text_again = record_dump(again);
    assert_string_equal(text, text_again);
    free(text_again);
    json_decref(again);
    free(text);
    json_decref(r);
}

/* ---- what is no result ---- */

static void refuse(json_t *r, const char *fragment)
{
    assert_int_equal(record_check(r), ST_USAGE);
    if (!strstr(status_message(), fragment)) {
        fail_msg("'%s' does not say '%s'", status_message(), fragment);
    }
}

static void each_field_is_held_to_its_kind(void **state)
{
    (void)state;
    const double second = 1;
    Record *r = make();
    assert_int_equal(record_put_samples(r, "forward", &second, 1), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_check(r), ST_OK);
#define FIELD(name, kind, need)                        \
    do {                                               \
        json_t *copy = json_deep_copy(r);              \
        json_object_set_new(copy, #name, json_true()); \
        refuse(copy, "'" #name "' must be");           \
        json_decref(copy);                             \
    } while (0);
#define CELL_FIELDS(group)
#include "bench/record/fields.def"
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        char message[64];
        if (!cell_field_table[id].name) continue;
        json_t *copy = json_deep_copy(r);
        json_object_set_new(copy, cell_field_table[id].name, json_true());
        snprintf(message, sizeof message, "'%s' must be", cell_field_table[id].name);
        refuse(copy, message);
        json_decref(copy);
    }
#define FIELD(phase, name, kind, need)                                       \
    do {                                                                     \
        json_t *copy = json_deep_copy(r);                                    \
        json_object_set_new(record_value(copy, #phase), #name, json_true()); \
        refuse(copy, "'" #phase "." #name "' must be");                      \
        json_decref(copy);                                                   \
    } while (0);
    PHASE_FIELDS(FIELD, forward)
#undef FIELD
    json_decref(r);
}

static void what_is_needed_is_missed(void **state)
{
    (void)state;
    Record *r = make();
    json_object_del(r, "d_model");
    refuse(r, "'d_model' is missing");
    assert_int_equal(record_put_int(r, "d_head", 64), ST_OK); /* attention alone has no model */
    assert_int_equal(record_check(r), ST_OK);
    json_object_del(r, "ctx");
    refuse(r, "'ctx' is missing");
    json_decref(r);
    r = make();
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    refuse(r, "no phase was measured");
    assert_int_equal(record_put_text(r, "step.status", "ok"), ST_OK);
    refuse(r, "'step.mean_ms' is missing");
    json_decref(r);
    json_t *array = json_array();
    refuse(array, "must be an object");
    json_decref(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_record_says_what_was_asked_for),
        cmocka_unit_test(paths_reach_into_objects),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(broken_text_is_repaired),
        cmocka_unit_test(samples_become_figures),
        cmocka_unit_test(one_sample_has_no_spread),
        cmocka_unit_test(phases_have_a_status_of_their_own),
        cmocka_unit_test(the_key_tells_cells_apart),
        cmocka_unit_test(the_key_outlives_what_was_used),
        cmocka_unit_test(the_key_has_room),
        cmocka_unit_test(attention_has_its_own_fields),
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(each_field_is_held_to_its_kind),
        cmocka_unit_test(what_is_needed_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
