#include "config/config.h"
#include "config/option.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

/* As many parameters as PyTorch counts for the same model: V C twice, per block 4 C^2 + 3 C F + 2 C,
 * and the last norm. */
static int64_t parameters(const Config *c)
{
    return 2 * c->model.vocab * c->model.d_model + c->model.d_model +
           c->model.num_layers * (4 * c->model.d_model * c->model.d_model +
                                  3 * c->model.d_model * c->model.d_ff + 2 * c->model.d_model);
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    Config c;
    config_defaults(&c);
    assert_string_equal(c.model.size, "small");
    assert_true(c.model.d_model == 768 && c.model.d_ff == 3072 && c.model.num_layers == 12 &&
                c.model.num_heads == 12);
    assert_true(c.model.vocab == 10000 && c.ctx == 128 && c.batch == 4);
    assert_true(c.warmup == 5 && c.steps == 10 && c.seed == 0 && c.threads == 0);
    assert_true(c.lr == 1e-3 && c.clip == 0 && c.loss_scale == 0 && c.timeout == 600);
    assert_true(c.mode == MODE_TRAIN && c.precision == PRECISION_FP32 && c.exec == EXEC_FUSED);
    assert_true(c.attention == ATTENTION_AUTO && c.blas == BLAS_AUTO && c.memory_limit == 0);
    assert_string_equal(c.device, "auto");
    assert_int_equal(config_check(&c), ST_OK);
}

static void presets_have_their_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t parameters;
    } known[] = {{"small", 128625408},
                 {"medium", 423183360},
                 {"large", 969411840},
                 {"xl", 1998235200},
                 {"2.7B", 3406809600}};
    Config c;
    config_defaults(&c);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(model_spec_preset(&c.model, known[i].name), ST_OK);
        assert_string_equal(c.model.size, known[i].name);
        assert_true(parameters(&c) == known[i].parameters);
    }
    for (int i = 0; model_spec_presets[i]; i++) {
        assert_int_equal(model_spec_preset(&c.model, model_spec_presets[i]), ST_OK);
        assert_int_equal(config_check(&c), ST_OK);
    }
    assert_int_equal(model_spec_preset(&c.model, "2.7b"), ST_OK);
    assert_string_equal(c.model.size, "2.7B");
    assert_int_equal(model_spec_preset(&c.model, "smal"), ST_USAGE);
    assert_non_null(strstr(status_message(), "did you mean small"));
}

static void names_follow_the_enums(void **state)
{
    (void)state;
    assert_string_equal(config_modes[MODE_FWD_BWD], "fwd_bwd");
    assert_string_equal(config_precisions[PRECISION_FP16], "fp16");
    assert_string_equal(config_attentions[ATTENTION_CUDNN], "cudnn");
    assert_string_equal(config_execs[EXEC_GRAPH], "graph");
    assert_string_equal(config_blases[BLAS_SYSTEM], "system");
    assert_null(config_modes[MODE_COUNT]);
    assert_null(config_precisions[PRECISION_COUNT]);
    assert_null(config_attentions[ATTENTION_COUNT]);
    assert_null(config_execs[EXEC_COUNT]);
    assert_null(config_blases[BLAS_COUNT]);
}

#define BREAKS(field, value, fragment)                               \
    do {                                                             \
        Config c_;                                                   \
        config_defaults(&c_);                                        \
        c_.field = (value);                                          \
        assert_int_equal(config_check(&c_), ST_USAGE);               \
        if (!strstr(status_message(), fragment))                     \
            fail_msg("'%s' lacks '%s'", status_message(), fragment); \
    } while (0)

static void bad_fields_are_named(void **state)
{
    (void)state;
    BREAKS(model.d_model, 0, "--d-model: 0 is too small");
    BREAKS(model.d_ff, -1, "--d-ff: -1 is too small");
    BREAKS(model.num_layers, 1025, "--num-layers: 1025 is too large; at most 1024");
    BREAKS(model.num_heads, 0, "--num-heads");
    BREAKS(model.vocab, INT64_MAX, "--vocab");
    BREAKS(ctx, INT64_C(1) << 31, "--ctx: 2147483648 is too large; at most 2147483647");
    BREAKS(batch, INT64_MIN, "--batch");
    BREAKS(warmup, -1, "--warmup");
    BREAKS(steps, 0, "--steps: 0 is too small; at least 1");
    BREAKS(seed, -1, "--seed");
    BREAKS(threads, -1, "--threads");
    BREAKS(lr, NAN, "--lr");
    BREAKS(lr, INFINITY, "--lr");
    BREAKS(clip, -1, "--clip");
    BREAKS(loss_scale, -2, "--loss-scale");
    BREAKS(timeout, 0, "--timeout");
    BREAKS(sample_time, -1, "--sample-time");
    BREAKS(d_head, 0, "--d-head");
    BREAKS(heads, 0, "--heads");
    BREAKS(mask, MASK_COUNT, "--mask");
    BREAKS(mode, MODE_COUNT, "--mode");
    BREAKS(precision, PRECISION_COUNT, "--precision");
    BREAKS(model.num_heads, 7, "num_heads 7 does not divide d_model 768");
    BREAKS(model.num_heads, 256, "is an odd head width");
}

/* Every field may be as large as its own bound, all of them together not. */
static void bad_products_are_named(void **state)
{
    (void)state;
    const int64_t most = 2147483647;
    Config c;
    config_defaults(&c);
    c.ctx = c.batch = most;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "batch x ctx x vocab"));
    config_defaults(&c);
    c.ctx = 1000000000;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "num_heads x ctx x ctx"));
    config_defaults(&c);
    c.model.d_model = most - 1;
    c.model.num_heads = 1;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "num_layers x d_model x d_model"));
    config_defaults(&c);
    c.model.vocab = most;
    assert_int_equal(config_check(&c), ST_OK);
}

static void attention_is_checked_by_its_own_sizes(void **state)
{
    (void)state;
    const int64_t most = 2147483647;
    Config c;
    config_attention_defaults(&c);
    assert_true(c.subject == SUBJECT_ATTENTION && c.mode == MODE_FWD_BWD && c.mask == MASK_CAUSAL);
    assert_true(c.d_head == 64 && c.heads == 1 && c.ctx == 1024 && c.batch == 8);
    assert_true(c.warmup == 10 && c.steps == 100 && c.sample_time == 1);
    c.d_head = 33; /* no rotary embedding here */
    c.heads = 7;
    c.ctx = 1 << 20;
    assert_int_equal(config_check(&c), ST_OK);
    c.ctx = most;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "batch x heads x ctx x ctx"));
    c.ctx = 1 << 20;
    c.batch = c.d_head = most;
    c.heads = 1;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "batch x ctx x heads x d_head"));
    c.heads = 2;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "heads 2 x d_head 2147483647 is too wide"));
    config_attention_defaults(&c);
    c.mode = MODE_TRAIN;
    assert_int_equal(config_check(&c), ST_USAGE);
    assert_non_null(strstr(status_message(), "nothing to train"));
}

/* The shorter of what was asked for and what a suite leaves; neither is part of what the cell is. */
static void shares_bound_samples(void **state)
{
    Config c;
    (void)state;
    config_defaults(&c);
    assert_true(config_sample_seconds(&c) == 0);
    c.sample_share = 2;
    assert_true(config_sample_seconds(&c) == 2);
    c.sample_time = 5;
    assert_true(config_sample_seconds(&c) == 2);
    c.sample_time = 1;
    assert_true(config_sample_seconds(&c) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_bound_samples),
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(presets_have_their_sizes),
        cmocka_unit_test(names_follow_the_enums),
        cmocka_unit_test(bad_fields_are_named),
        cmocka_unit_test(bad_products_are_named),
        cmocka_unit_test(attention_is_checked_by_its_own_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
