#include "config/sweep.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const OptionSet bench = {
    .taken = OPTION_LIST(OPTIONS_STEP, OPTION_WARMUP, OPTION_STEPS, OPTION_SAMPLE_TIME,
                         OPTION_UNTIL, OPTION_STAT, OPTION_MEMORY_LIMIT, OPTION_TIMEOUT,
                         OPTIONS_ATTENTION, OPTIONS_OUTPUT, OPTION_PEER, OPTION_PEER_ROUNDS,
                         OPTION_DRY_RUN, OPTION_RESUME, OPTION_BASELINE, OPTION_OUT_JSON),
    .lists = OPTION_LIST(OPTIONS_STEP, OPTION_WARMUP, OPTION_STEPS),
    .formats = "md csv json ",
};
static const OptionSet plan = {
    .taken = OPTION_LIST(OPTIONS_PLAN, OPTION_MEMORY_LIMIT, OPTIONS_OUTPUT),
    .lists = OPTION_LIST(OPTIONS_PLAN, OPTION_MEMORY_LIMIT),
    .formats = "md",
};
static const OptionSet one_cell = {.taken = OPTION_LIST(OPTIONS_STEP, OPTION_OUT)};
static const OptionSet with_files = {
    .taken = OPTION_LIST(OPTIONS_OUTPUT), .formats = "html", .args = "FILE..."};

static Settings settings;
static Sweep sweep;

/* The line is split at blanks; "~" stands for an empty word. */
static Status read_line(const OptionSet *set, const char *line)
{
    static char copy[4096];
    char *argv[512];
    int argc = 0;
    assert_true(strlen(line) < sizeof copy);
    memcpy(copy, line, strlen(line) + 1);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "~") == 0) *word = 0;
        argv[argc++] = word;
    }
    return sweep_parse(set, argc, argv, &settings, &sweep);
}

static void parsed(const OptionSet *set, const char *line)
{
    if (read_line(set, line) != ST_OK) fail_msg("'%s': %s", line, status_message());
}

static void ctx_is(const char *line, int n, const int64_t *want)
{
    parsed(&bench, line);
    assert_int_equal(sweep.n, n);
    for (int i = 0; i < n; i++) assert_int_equal(sweep.configs[i].ctx, want[i]);
    assert_true(sweep.varies[OPTION_CTX] == (n > 1));
    sweep_free(&sweep);
}

#define CTX_IS(line, ...)                                                   \
    ctx_is(line, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
           (int64_t[]){__VA_ARGS__})

static void lists_and_ranges(void **state)
{
    (void)state;
    CTX_IS("", 128);
    CTX_IS("--ctx 7", 7);
    CTX_IS("--ctx=7", 7);
    CTX_IS("--ctx 128,256,512", 128, 256, 512);
    CTX_IS("--ctx 512,128", 512, 128);
    CTX_IS("--ctx 64-1024*2", 64, 128, 256, 512, 1024);
    CTX_IS("--ctx 64-1000*2", 64, 128, 256, 512);
    CTX_IS("--ctx 128-512+128", 128, 256, 384, 512);
    CTX_IS("--ctx 128-500+128", 128, 256, 384);
    CTX_IS("--ctx 1-4", 1, 2, 3, 4);
    CTX_IS("--ctx 5-5", 5);
    CTX_IS("--ctx 5,1-3,100-400*4", 5, 1, 2, 3, 100, 400);
    CTX_IS("--ctx 128 --ctx 256 --ctx 64,32", 128, 256, 64, 32);
    CTX_IS("--ctx 128,128,64-256*2,256", 128, 64, 256);
    CTX_IS("--ctx 100000-101000*2000000000", 100000);
    CTX_IS("--ctx 100-101+9223372036854775807", 100);
    CTX_IS("--ctx 100-101*9223372036854775807", 100);
}

/* Axes in the order of options.def, whatever the order on the line; the last varies fastest. */
static void the_product_has_a_fixed_order(void **state)
{
    (void)state;
    parsed(&bench, "--mode fwd,train --precision bf16,fp32 --size tiny,xl --batch 2,1");
    assert_int_equal(sweep.n, 16);
    for (int i = 0; i < 16; i++) {
        const Config *c = &sweep.configs[i];
        assert_string_equal(c->model.size, i < 8 ? "tiny" : "xl");
        assert_int_equal(c->batch, i / 4 % 2 == 0 ? 2 : 1);
        assert_int_equal(c->precision, i / 2 % 2 == 0 ? PRECISION_BF16 : PRECISION_FP32);
        assert_int_equal(c->mode, i % 2 == 0 ? MODE_FWD : MODE_TRAIN);
    }
    assert_true(sweep.varies[OPTION_SIZE] && sweep.varies[OPTION_D_MODEL]);
    assert_true(sweep.varies[OPTION_BATCH] && sweep.varies[OPTION_PRECISION]);
    assert_true(sweep.varies[OPTION_MODE] && !sweep.varies[OPTION_CTX]);
    assert_false(sweep.varies[OPTION_OUT]);
    sweep_free(&sweep);
}

static void dimensions_override_a_preset(void **state)
{
    (void)state;
    parsed(&bench, "--num-layers 3 --size tiny");
    assert_int_equal(sweep.n, 1);
    assert_string_equal(sweep.configs[0].model.size, "custom");
    assert_int_equal(sweep.configs[0].model.num_layers, 3);
    assert_int_equal(sweep.configs[0].model.d_model, 512);
    sweep_free(&sweep);
    parsed(&bench, "--d-model 1536 --num-heads 8,16");
    assert_int_equal(sweep.n, 2);
    assert_int_equal(sweep.configs[1].model.d_ff, 3072);
    assert_int_equal(sweep.configs[1].model.num_heads, 16);
    assert_string_equal(sweep.configs[1].model.size, "custom");
    sweep_free(&sweep);
}

static void models_are_an_axis(void **state)
{
    (void)state;
    parsed(&bench, "--model gpt2,qwen3-0.6b --model gpt2 --num-layers 2,3");
    assert_int_equal(sweep.n, 4);
    for (int i = 0; i < 4; i++) {
        const ModelSpec *m = &sweep.configs[i].model;
        assert_string_equal(m->size, i < 2 ? "gpt2" : "qwen3-0.6b");
        assert_string_equal(m->name, m->size);
        assert_int_equal(m->num_layers, 2 + i % 2);
        assert_int_equal(m->vocab, i < 2 ? 50257 : 151936);
        assert_int_equal(m->qk_norm, i >= 2);
        assert_int_equal(m->changed, 1u << OPTION_NUM_LAYERS);
    }
    assert_true(sweep.varies[OPTION_MODEL] && sweep.varies[OPTION_D_MODEL]);
    sweep_free(&sweep);
    parsed(&bench, "--model gpt2 --vocab 100");
    assert_string_equal(sweep.configs[0].model.size, "gpt2");
    assert_int_equal(sweep.configs[0].model.vocab, 100);
    sweep_free(&sweep);
    /* GPT-2's feed-forward is four times as wide as the model, unless it is given. */
    parsed(&bench, "--model gpt2 --d-model 384,1536");
    assert_true(sweep.configs[0].model.d_ff == 1536 && sweep.configs[1].model.d_ff == 6144);
    sweep_free(&sweep);
    parsed(&bench, "--model gpt2 --d-model 384 --d-ff 100");
    assert_int_equal(sweep.configs[0].model.d_ff, 100);
    sweep_free(&sweep);
    parsed(&plan, "--model list");
    assert_true(settings.list_models && sweep.n == 0);
}

/* The default context is as long as the model allows. */
static void a_context_is_within_the_positions(void **state)
{
    (void)state;
    char path[] = "/tmp/roofstep-sweep-XXXXXX.json", line[128];
    static const char text[] =
        "{\"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, "
        "\"n_positions\": 100, \"vocab_size\": 11}";
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    snprintf(line, sizeof line, "--model %s", path);
    parsed(&bench, line);
    assert_int_equal(sweep.configs[0].ctx, 100);
    assert_int_equal(sweep.configs[0].model.d_ff, 256);
    sweep_free(&sweep);
    snprintf(line, sizeof line, "--model gpt2,%s", path);
    parsed(&bench, line);
    assert_int_equal(sweep.configs[0].ctx, 128);
    assert_int_equal(sweep.configs[1].ctx, 100);
    sweep_free(&sweep);
    snprintf(line, sizeof line, "--model %s --ctx 101", path);
    parsed(&bench, line);
    assert_int_equal(config_check_positions(&sweep.configs[0]), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "--ctx 101 is beyond its 100 positions"));
    sweep.configs[0].ctx = 100;
    assert_int_equal(config_check_positions(&sweep.configs[0]), ST_OK);
    sweep_free(&sweep);
    unlink(path);
}

static void equal_cells_are_kept_once(void **state)
{
    (void)state;
    parsed(&bench, "--size tiny,small,xl --d-model 64 --d-ff 64 --num-heads 2 --num-layers 2,1");
    assert_int_equal(sweep.n, 2);
    assert_int_equal(sweep.configs[0].model.num_layers, 2);
    assert_int_equal(sweep.configs[1].model.num_layers, 1);
    assert_true(sweep.varies[OPTION_NUM_LAYERS] && !sweep.varies[OPTION_SIZE]);
    sweep_free(&sweep);
}

static void every_option_reaches_its_field(void **state)
{
    (void)state;
    parsed(&bench,
           "--size medium --vocab 50257 --ctx 33 --batch 3 --device cuda:01 --precision FP16 "
           "--attention naive --exec eager --mode fwd_bwd --threads 2 --blas own --warmup 0 "
           "--steps 7 --seed 99 --lr 3e-4 --clip 1.5 --loss-scale 1024 --memory-limit 8GiB "
           "--timeout 3m --dry-run --format csv --out a.csv --out-json b.json "
           "--baseline fp32 --resume c.json");
    const Config *c = &sweep.configs[0];
    assert_int_equal(sweep.n, 1);
    assert_string_equal(c->model.size, "medium");
    assert_true(c->model.vocab == 50257 && c->ctx == 33 && c->batch == 3 && c->threads == 2);
    assert_string_equal(c->device, "cuda:1");
    assert_true(c->precision == PRECISION_FP16 && c->attention == ATTENTION_NAIVE);
    assert_true(c->exec == EXEC_EAGER && c->mode == MODE_FWD_BWD && c->blas == BLAS_OWN);
    assert_true(c->warmup == 0 && c->steps == 7 && c->seed == 99);
    assert_true(c->lr == 3e-4 && c->clip == 1.5 && c->loss_scale == 1024 && c->timeout == 180);
    assert_true(c->memory_limit == INT64_C(8) << 30 && settings.n_memory_limits == 1);
    assert_true(settings.dry_run && !settings.help && settings.n_args == 0);
    assert_string_equal(settings.format, "csv");
    assert_string_equal(settings.out, "a.csv");
    assert_string_equal(settings.out_json, "b.json");
    assert_string_equal(settings.baseline, "fp32");
    assert_string_equal(settings.resume, "c.json");
    assert_true(settings.given[OPTION_SEED]);
    assert_true(!settings.given[OPTION_D_MODEL]);
    sweep_free(&sweep);
}

static void words_of_the_loss_scale(void **state)
{
    (void)state;
    parsed(&bench, "--loss-scale dynamic,none,65536,1");
    assert_int_equal(sweep.n, 4);
    static const char *const words[] = {"dynamic", "none", "65536", "1"};
    for (int i = 0; i < sweep.n; i++) {
        Config *c = &sweep.configs[i];
        assert_string_equal(config_loss_scale_text(c->loss_scale).s, words[i]);
        assert_false(config_scales_loss(c));
        c->precision = PRECISION_FP16;
        assert_int_equal(config_scales_loss(c), c->loss_scale != CONFIG_SCALE_NONE);
    }
    sweep_free(&sweep);
}

static void limits_are_a_list_in_plan(void **state)
{
    (void)state;
    parsed(&plan, "--memory-limit 8GiB,16GiB --memory-limit 24GiB --size tiny,small");
    assert_int_equal(sweep.n, 2);
    assert_int_equal(settings.n_memory_limits, 3);
    assert_true(settings.memory_limits[2] == INT64_C(24) << 30);
    assert_true(sweep.configs[1].memory_limit == INT64_C(8) << 30);
    sweep_free(&sweep);
}

static void help_wins(void **state)
{
    (void)state;
    parsed(&bench, "--ctx 5 --help --nonsense");
    assert_true(settings.help && sweep.n == 0 && sweep.configs == NULL);
    parsed(&one_cell, "-h");
    assert_true(settings.help);
}

static void arguments_that_are_not_options(void **state)
{
    (void)state;
    parsed(&with_files, "a.json --out page.html b.json -- --odd.json");
    assert_int_equal(settings.n_args, 3);
    assert_string_equal(settings.args[0], "a.json");
    assert_string_equal(settings.args[2], "--odd.json");
    assert_string_equal(settings.format, "html");
    sweep_free(&sweep);
}

static void large_sweeps_are_quick_and_bounded(void **state)
{
    (void)state;
    parsed(&bench, "--ctx 1-100 --batch 1-100 --warmup 0-9");
    assert_int_equal(sweep.n, SWEEP_MAX_CELLS);
    sweep_free(&sweep);
    assert_int_equal(read_line(&bench, "--ctx 1-4000 --batch 1-4000"), ST_USAGE);
    assert_non_null(strstr(status_message(), "16000000 cells, more than 100,000"));
}

typedef struct BadLine {
    const OptionSet *set;
    const char *line, *fragment;
} BadLine;

static const BadLine bad_lines[] = {
    {&bench, "--stepz 3", "unknown option --stepz: did you mean --steps?"},
    {&bench, "--d_model 512", "did you mean --d-model?"},
    {&bench, "--frobnicate", "unknown option --frobnicate; see --help"},
    {&bench, "-ctx 3", "options start with two dashes"},
    {&bench, "---ctx 3", "options start with two dashes"},
    {&bench, "--=3", "unknown option --"},
    {&bench, "--refresh", "--refresh is not an option of this command"},
    {&plan, "--lr 0.1", "--lr is not an option of this command"},
    {&bench, "tiny", "'tiny' was not expected: did you mean --size tiny?"},
    {&bench, "-- --ctx", "'--ctx' was not expected"},
    {&bench, "-", "'-' was not expected"},
    {&bench, "~", "'' was not expected"},
    {&bench, "--ctx", "--ctx needs a value"},
    {&bench, "--ctx --batch 4", "--ctx needs a value"},
    {&bench, "--ctx=", "--ctx needs a value"},
    {&bench, "--out ~", "--out needs a value"},
    {&bench, "--ctx 0", "--ctx: 0 is too small; at least 1"},
    {&bench, "--ctx -5", "--ctx: -5 is too small"},
    {&bench, "--ctx 1.5", "--ctx: '1.5' is not a whole number"},
    {&bench, "--ctx 128,", "--ctx: a value is missing in '128,'"},
    {&bench, "--ctx ,", "a value is missing"},
    {&bench, "--ctx 128,,256", "a value is missing in '128,,256'"},
    {&bench, "--ctx 99999999999999999999", "does not fit in 64 bits"},
    {&bench, "--ctx 512-128", "'512-128': the range starts at 512 and ends before it"},
    {&bench, "--ctx 1-9*1", "the factor must be at least 2"},
    {&bench, "--ctx 0-9*2", "the first value at least 1"},
    {&bench, "--ctx 1-9+0", "the step must be at least 1"},
    {&bench, "--ctx 1-9+-1", "the step must be at least 1"},
    {&bench, "--ctx 1-9-2", "'9-2' is not a whole number"},
    {&bench, "--ctx 1-*2", "'' is not a whole number"},
    {&bench, "--ctx 1-9*2*2", "'2*2' is not a whole number"},
    {&bench, "--ctx 1-1000000", "more than 4096 values"},
    {&bench, "--ctx 0-5", "'0-5': 0 is too small"},
    {&bench, "--size smal", "--size: 'smal' is not one of tiny, small, medium"},
    {&bench, "--size custom", "'custom' is not one of"},
    {&bench, "--precision fp4", "--precision: 'fp4' is not one of fp32, tf32, bf16, fp16, fp8"},
    {&bench, "--fp8-recipe row",
     "--fp8-recipe: 'row' is not one of current, delayed, rowwise, block"},
    {&bench, "--exec egaer", "did you mean eager?"},
    {&bench, "--device gpu", "'gpu' is not one of auto, cpu, cuda (did you mean cuda?)"},
    {&bench, "--precision bfloat16", "(did you mean bf16?)"},
    {&bench, "--precision gpu", "'gpu' is not one of fp32, tf32, bf16, fp16"},
    {&bench, "--mode forward", "(did you mean fwd?)"},
    {&bench, "bf16", "'bf16' was not expected: did you mean --precision bf16?"},
    {&bench, "extra", "'extra' was not expected; options start with --"},
    {&bench, "--device cuda:-1", "'cuda:-1' is not a device such as cuda:0"},
    {&bench, "--lr fast", "--lr: 'fast' is not a number"},
    {&bench, "--lr nan", "'nan' is not a number"},
    {&bench, "--d-model 9223372036854775807",
     "--d-model: 9223372036854775807 is too large; at most 2147483647"},
    {&bench, "--seed 9000000000000000001",
     "--seed: 9000000000000000001 is too large; at most 9000000000000000000"},
    {&bench, "--lr -1", "--lr: -1 is too small"},
    {&bench, "--clip 1e999", "'1e999' is too large"},
    {&bench, "--loss-scale 0", "'0' is neither dynamic, none nor a positive number"},
    {&bench, "--memory-limit 8XB", "--memory-limit: '8XB' is not a size such as 8GiB"},
    {&bench, "--memory-limit 0", "--memory-limit: '0' is only 0 bytes; give a unit, as 8GiB"},
    {&bench, "--memory-limit 8GiB,16GiB", "--memory-limit takes one value here"},
    {&bench, "--timeout 10d", "--timeout: '10d' is not a time such as 90s"},
    {&bench, "--timeout 0", "--timeout: 0 is too small"},
    {&bench, "--timeout 1s,2s", "--timeout takes one value here"},
    {&bench, "--dry-run=yes", "--dry-run takes no value"},
    {&bench, "--format xml", "--format: 'xml' is not one of md, csv, json"},
    {&bench, "--out a --out b", "--out is given twice"},
    {&bench, "--num-heads 7", "num_heads 7 does not divide d_model 768"},
    {&bench, "--size tiny,xl --num-heads 16,3", "num_heads 3 does not divide d_model 512"},
    {&bench, "--num-heads 256", "is an odd head width"},
    {&bench, "--batch 2147483647 --ctx 2147483647", "batch x ctx x vocab is"},
    {&one_cell, "--ctx 1,2", "--ctx takes one value here, not several"},
    {&one_cell, "--ctx 1 --ctx 2", "--ctx takes one value here, not several"},
    {&plan, "--memory-limit 1G,2G,3G,4G,5G,6G,7G,8G,9G,10G,11G,12G,13G,14G,15G,16G,17G",
     "at most 16 sizes"},
};

static void bad_lines_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
        const BadLine *bad = &bad_lines[i];
        if (read_line(bad->set, bad->line) != ST_USAGE) fail_msg("took '%s'", bad->line);
        if (!strstr(status_message(), bad->fragment))
            fail_msg("'%s' gives '%s', which lacks '%s'", bad->line, status_message(),
                     bad->fragment);
        assert_null(strchr(status_message(), '\n'));
        assert_null(sweep.configs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges),
        cmocka_unit_test(the_product_has_a_fixed_order),
        cmocka_unit_test(dimensions_override_a_preset),
        cmocka_unit_test(models_are_an_axis),
        cmocka_unit_test(a_context_is_within_the_positions),
        cmocka_unit_test(equal_cells_are_kept_once),
        cmocka_unit_test(every_option_reaches_its_field),
        cmocka_unit_test(words_of_the_loss_scale),
        cmocka_unit_test(limits_are_a_list_in_plan),
        cmocka_unit_test(help_wins),
        cmocka_unit_test(arguments_that_are_not_options),
        cmocka_unit_test(large_sweeps_are_quick_and_bounded),
        cmocka_unit_test(bad_lines_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
