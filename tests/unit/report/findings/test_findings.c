/* Sentences with figures, word for word, from results whose figures are known. */
#include "bench/record/record_file.h"
#include "report/findings/findings.h"
#include "report/page/page.h"
#include "report/records/precision_gain.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

static RecordSet set;

static int empty_set(void **state)
{
    (void)state;
    json_t *environment = json_pack("{s:s}", "id", "0123456789ab");
    const Status status = record_set_init(&set, environment);
    json_decref(environment);
    return status == ST_OK ? 0 : -1;
}

static int free_set(void **state)
{
    (void)state;
    record_set_free(&set);
    return 0;
}

static void put_phase(Record *r, const char *phase, double ms)
{
    const double seconds[3] = {0.9e-3 * ms, 1e-3 * ms, 1.2e-3 * ms};
    assert_int_equal(record_put_samples(r, phase, seconds, 3), ST_OK);
}

static Record *add(const char *size, Precision precision)
{
    Config c;
    Record *r = NULL;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, size), ST_OK);
    c.precision = precision;
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_set_add(&set, r), ST_OK);
    json_decref(r); /* the set has it */
    return r;
}

static void check(const Text *text, const char *expected)
{
    assert_string_equal(text_str(text), expected);
}

/* ---- warm-up ---- */

static void warmup_says_what_it_changed(void **state)
{
    (void)state;
    WarmupStudy study = {.n = 3, .enough = 1, .steady = 131, .cold.first = 455};
    study.settings[0] = (WarmupSetting){.warmup = 0, .mean = 233.3, .std = 57.4};
    study.settings[1] = (WarmupSetting){.warmup = 1, .mean = 133.62, .std = 1.5};
    study.settings[2] = (WarmupSetting){.warmup = 10, .mean = 131, .std = 0.5};
    Text text = {0};
    findings_warmup(&text, &study);
    check(&text,
          "Warm-up: without it a run reports a mean step of 233.3 ms (std 57.40 ms), with 10 "
          "warm-ups 131.0 ms (std 500.0 us). Error of the mean: without it +78.1 %, with 1 +2.0 %. "
          "The first step of a process takes 324.0 ms longer than a steady one.");
    text_clear(&text);
    study.n = 1;
    findings_warmup(&text, &study);
    check(&text, "");
    text_free(&text);
}

/* ---- softmax ---- */

static json_t *tally(double ns)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "n", 2, "total", ns, "avg", ns / 2,
                     "med", ns / 2, "min", ns / 2, "max", ns / 2, "std", 0.0);
}

static json_t *op(const char *phase, const char *name, const char *category, const char *part,
                  double flops, double bytes, double ns)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:f, s:f, s:o}", "phase",
                     phase, "scope", "x", "op", name, "impl", "own", "category", category, "source",
                     "x.c", "line", 1, "shape", "", "part", part, "nodes", 1, "flops", flops,
                     "bytes", bytes, "host", tally(ns));
}

/* Two steps; softmax of forward and the two products around it, and what must not count. */
static void put_profile(Record *r, double softmax_ns, double bandwidth)
{
    json_t *ops = json_pack(
        "[o, o, o, o, o, o]", op("forward", "bmm", "matmul", "scores + mask", 1e6, 1e5, 3000),
        op("forward", "causal_mask", "elementwise", "scores + mask", 5e6, 9e9, 7000),
        op("forward", "softmax", "softmax", "softmax", 1e5, 6e5, softmax_ns),
        op("forward", "bmm", "matmul", "attention x V", 1e6, 1e5, 1000),
        op("forward", "matmul", "matmul", "output projection", 1e9, 1e9, 1e6),
        op("backward", "softmax_grad", "softmax", "softmax", 1e9, 1e9, 1e6));
    json_t *profile =
        json_pack("{s:i, s:i, s:i, s:f, s:o, s:[], s:o}", "steps", 2, "traced_steps", 0,
                  "events_left_out", 0, "loop", 1e7, "step", tally(1e7), "phases", "ops", ops);
    if (bandwidth > 0) json_object_set_new(profile, "limit_bandwidth", json_real(bandwidth));
    assert_int_equal(json_object_set_new(r, "profile", profile), 0);
}

static void check_softmax(double softmax_ns, double bandwidth, const char *expected)
{
    Text text = {0};
    record_set_free(&set);
    assert_int_equal(empty_set(NULL), 0);
    put_profile(add("tiny", PRECISION_FP32), softmax_ns, bandwidth);
    assert_int_equal(findings_softmax_first(&text, &set), ST_OK);
    check(&text, expected);
    text_free(&text);
}

#define SOFTMAX                                                                                   \
    "Softmax has 5.0 % of the FLOPs of attention's two matrix multiplications and takes 41 % of " \
    "their time (forward): it moves 6.0 bytes per FLOP, they 0.10."

static void softmax_is_held_against_its_two_products(void **state)
{
    (void)state;
    check_softmax(1640, 0, SOFTMAX);
    /* 600,000 bytes take 0.66 us at 900 GB/s: of the 0.82 of one of two steps */
    check_softmax(1640, 900e9,
                  SOFTMAX
                  " It is memory-bound: its traffic alone takes 81 % of its time at the measured "
                  "bandwidth.");
    check_softmax(1640, 3000e9,
                  SOFTMAX
                  " At the measured bandwidth its traffic takes 24 % of its time; the rest is "
                  "arithmetic and per-op overhead.");
    check_softmax(1640, 100e9,
                  SOFTMAX
                  " It runs from caches: main memory at its measured bandwidth would be slower.");
}

static void one_op_for_all_has_no_softmax(void **state)
{
    (void)state;
    Text text = {0};
    Record *r = add("tiny", PRECISION_FP32);
    json_t *ops = json_pack("[o]", op("forward", "attention", "attention",
                                      "scores, softmax, x V in one", 1e6, 1e5, 1000));
    json_t *profile =
        json_pack("{s:i, s:i, s:i, s:f, s:o, s:[], s:o}", "steps", 2, "traced_steps", 0,
                  "events_left_out", 0, "loop", 1e7, "step", tally(1e7), "phases", "ops", ops);
    json_object_set_new(r, "profile", profile);
    add("small", PRECISION_FP32); /* no profile at all */
    assert_int_equal(findings_softmax_first(&text, &set), ST_OK);
    check(&text, "");
    text_free(&text);
}

/* ---- precision ---- */

static void add_row(const char *size, Precision precision, double forward, double optimizer,
                    double mib)
{
    Record *r = add(size, precision);
    put_phase(r, "forward", forward);
    put_phase(r, "backward", 2 * forward);
    put_phase(r, "optimizer", optimizer);
    put_phase(r, "step", 3 * forward + optimizer);
    record_put_number(r, "peak_alloc_mib", mib);
}

static void precision_says_where_it_gains(void **state)
{
    (void)state;
    Text text = {0};
    precision_gain_rows(&text, &set);
    check(&text, "");
    add_row("small", PRECISION_FP32, 10, 4, 1000);
    precision_gain_rows(&text, &set);
    check(&text, "");
    add_row("small", PRECISION_BF16, 5, 4, 1100);
    add_row("medium", PRECISION_FP32, 40, 8, 3000);
    add_row("medium", PRECISION_BF16, 10, 8, 2700);
    record_put_text(add("medium", PRECISION_FP16), "peer", "torch");
    put_phase(record_set_at(&set, record_set_size(&set) - 1), "step", 1);
    precision_gain_rows(&text, &set);
    check(&text, "bf16 instead of fp32: the step is 1.79 times as fast (small), 3.37 (medium). Of "
                 "the slowest "
                 "(medium): forward 4.00 times, backward 4.00 times, optimizer 1.00 times, peak "
                 "memory -10 %.");
    text_free(&text);
}

static void profiles_say_which_work_gains(void **state)
{
    (void)state;
    Text text = {0};
    put_profile(add("tiny", PRECISION_FP32), 1e6, 0);
    precision_gain_ops(&text, &set);
    check(&text, "");
    put_profile(add("tiny", PRECISION_BF16), 4e5, 0);
    precision_gain_ops(&text, &set);
    /* softmax: 2 ms in both phases, of which forward's takes two fifths; too little are the rest */
    check(&text,
          "By op category, bf16 instead of fp32 (tiny): matmul 1.00 times as fast (33 % of the "
          "time in fp32), softmax 1.43 times as fast (66 % of the time in fp32).");
    text_free(&text);
}

/* ---- the summary ---- */

static json_t *summary_of(const RecordSet *rows)
{
    Text text = {0};
    ResultInput file;
    json_t *lines = json_array();
    assert_int_equal(record_file_json(&text, rows), ST_OK);
    assert_int_equal(result_input_parse(&file, "x.json", &text), ST_OK);
    assert_int_equal(findings_add(lines, &file, 1), ST_OK);
    result_input_free(&file);
    text_free(&text);
    return lines;
}

static bool has(const json_t *lines, const char *words)
{
    for (size_t i = 0; i < json_array_size(lines); i++) {
        if (strstr(json_string_value(json_array_get(lines, i)), words)) return true;
    }
    return false;
}

static void add_attention(int64_t ctx, int64_t d_head, Attention which)
{
    Config c;
    Record *r = NULL;
    config_attention_defaults(&c);
    c.ctx = ctx, c.d_head = d_head, c.attention = which;
    assert_int_equal(record_new(&r, &c), ST_OK);
    record_put_status(r, RECORD_OK, NULL);
    put_phase(r, "forward", 1e-6 * (double)(ctx * ctx));
    assert_int_equal(record_set_add(&set, r), ST_OK);
    json_decref(r);
}

/* One line for each implementation, of the sweep with the most points. */
static void summary_says_how_it_grows(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        add_attention(128 << i, 64, ATTENTION_NAIVE);
        add_attention(128 << i, 64, ATTENTION_FLASH);
        if (i < 4) add_attention(128 << i, 32, ATTENTION_NAIVE);
    }
    json_t *lines = summary_of(&set);
    assert_int_equal(json_array_size(lines), 2);
    assert_true(has(lines, "Scaling: d_head 64, attention naive: forward scales as ctx^2.000"));
    assert_true(has(lines, "Scaling: d_head 64, attention flash: forward scales as ctx^2.000"));
    json_decref(lines);
}

static void page_has_it_beside_the_chart(void **state)
{
    (void)state;
    Text text = {0};
    ResultInput file;
    json_t *data = NULL;
    for (int i = 0; i < 4; i++) add_attention(128 << i, 64, ATTENTION_FLASH);
    assert_int_equal(record_file_json(&text, &set), ST_OK);
    assert_int_equal(result_input_parse(&file, "x.json", &text), ST_OK);
    const PageInput input = {.files = &file, .n_files = 1, .command = "x"};
    assert_int_equal(page_data_make(&data, &input), ST_OK);
    const json_t *growth =
        json_object_get(json_array_get(json_object_get(data, "files"), 0), "growth");
    assert_int_equal(json_array_size(growth), 1);
    const json_t *sweep = json_array_get(growth, 0);
    assert_string_equal(record_text(sweep, "kind"), "attention");
    int64_t d_head = 0;
    assert_true(record_int(sweep, "where.d_head", &d_head) && d_head == 64);
    assert_null(record_value(sweep, "where.ctx"));
    assert_non_null(strstr(record_text(sweep, "text"), "forward scales as ctx^2.000"));
    json_decref(data);
    result_input_free(&file);
    text_free(&text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, empty_set, free_set)
    const struct CMUnitTest tests[] = {
        TEST(warmup_says_what_it_changed),   TEST(softmax_is_held_against_its_two_products),
        TEST(one_op_for_all_has_no_softmax), TEST(precision_says_where_it_gains),
        TEST(profiles_say_which_work_gains), TEST(summary_says_how_it_grows),
        TEST(page_has_it_beside_the_chart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
