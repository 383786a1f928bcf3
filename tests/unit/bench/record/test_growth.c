/* Which sweeps a set of results has, and what is said of them: golden/growth.md and growth.json.
 * ROOFSTEP_UPDATE_GOLDEN=1 writes those anew: read the difference before committing it. */
#include "bench/record/record_file.h"
#include "report/format/table_md.h"
#include "report/records/growth_report.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
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

/* Ten samples around `ms`, their median off by up to 1.5 %, as the number of the row has it. */
static void put_phase(Record *r, const char *phase, double ms, int row)
{
    double seconds[10];
    for (int i = 0; i < 10; i++)
        seconds[i] = ms * 1e-3 * (1 + 0.01 * (row * 5 % 7 % 4 - 1.5) + 0.002 * (i - 4.5));
    assert_int_equal(record_put_samples(r, phase, seconds, 10), ST_OK);
}

static Record *add(const Config *config, RecordStatus status)
{
    Record *r = NULL;
    assert_int_equal(record_new(&r, config), ST_OK);
    assert_int_equal(record_put_status(r, status, NULL), ST_OK);
    assert_int_equal(record_set_add(&set, r), ST_OK);
    json_decref(r); /* the set has it */
    return r;
}

static Config attention(int64_t ctx, Attention which)
{
    Config c;
    config_attention_defaults(&c);
    c.ctx = ctx;
    c.attention = which;
    return c;
}

/* A launch of 20 us and a square beyond it. */
static Record *add_attention(int64_t ctx, Attention which)
{
    const Config c = attention(ctx, which);
    Record *r = add(&c, RECORD_OK);
    const double n = (double)ctx;
    const int row = (int)log2(n);
    put_phase(r, "forward", 0.02 + (which == ATTENTION_NAIVE ? 2e-6 : 1e-6) * n * n, row);
    put_phase(r, "backward", 0.03 + 4e-6 * n * n, row + 1);
    record_put_number(r, "mem_before_bwd_mib",
                      0.0078125 * n + (which == ATTENTION_NAIVE ? n * n * 64 / 1048576 : 0));
    return r;
}

static Config model(int64_t layers, int64_t batch)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, "tiny"), ST_OK);
    snprintf(c.model.size, sizeof c.model.size, "custom");
    c.model.num_layers = layers;
    c.batch = batch;
    return c;
}

static Record *add_model(int64_t layers, int64_t batch)
{
    const Config c = model(layers, batch);
    Record *r = add(&c, RECORD_OK);
    const double n = (double)(layers * batch);
    record_put_int(r, "parameters", 1000000 * layers);
    put_phase(r, "step", 3 * n, (int)layers);
    record_put_number(r, "peak_alloc_mib", 16 * (double)layers + 2 * n);
    return r;
}

static const GrowthLaw *law_of(const GrowthSweep *sweep, const char *figure)
{
    for (int i = 0; i < sweep->n_laws; i++) {
        if (strcmp(sweep->laws[i].figure->name, figure) == 0) return &sweep->laws[i];
    }
    return NULL;
}

/* ---- grouping ---- */

static void rows_that_differ_in_one_axis_are_a_sweep(void **state)
{
    (void)state;
    Growth growth;
    for (int i = 0; i < 4; i++) {
        for (int64_t batch = 1; batch <= 4; batch *= 2) add_model(1 << i, batch);
    }
    assert_int_equal(growth_make(&growth, &set), ST_OK);
    assert_int_equal(growth.n, 4 + 3); /* batches of four sizes, sizes of three batches */
    for (int s = 0; s < 7; s++) {
        const GrowthSweep *sweep = &growth.sweeps[s];
        const bool sizes = s >= 4;
        assert_string_equal(sweep->axis, sizes ? "parameters" : "batch");
        assert_int_equal(sweep->points, sizes ? 4 : 3);
        const GrowthLaw *memory = law_of(sweep, "peak_alloc_mib");
        assert_int_equal(memory->terms.degree, 1);
        const GrowthFit *step = &law_of(sweep, "step")->fit;
        assert_int_equal(step->verdict, sizes ? GROWTH_LAW : GROWTH_FEW_POINTS);
        if (sizes) assert_true(step->low <= 1 && 1 <= step->high);
    }
    growth_free(&growth);
}

static void what_is_another_work_is_kept_apart(void **state)
{
    (void)state;
    Growth growth;
    for (int i = 0; i < 4; i++) {
        add_attention(128 << i, ATTENTION_NAIVE);
        add_attention(128 << i, ATTENTION_FLASH);
        record_put_text(add_attention(100 << i, ATTENTION_NAIVE), "peer", "torch");
        Config c = attention(128 << i, ATTENTION_NAIVE);
        c.precision = PRECISION_BF16;
        put_phase(add(&c, RECORD_OK), "forward", 1 << i, i);
    }
    /* more samples or another seed are no other work */
    Config c = attention(4096, ATTENTION_FLASH);
    c.steps = 7, c.seed = 3;
    put_phase(add(&c, RECORD_OK), "forward", 17, 0);
    assert_int_equal(growth_make(&growth, &set), ST_OK);
    assert_int_equal(growth.n, 3);
    assert_int_equal(growth.sweeps[0].points, 4);
    assert_int_equal(growth.sweeps[1].points, 5);
    assert_int_equal(law_of(&growth.sweeps[1], "mem_before_bwd_mib")->points, 4);
    growth_free(&growth);
}

static void what_was_not_measured_is_left_out(void **state)
{
    (void)state;
    Growth growth;
    for (int i = 0; i < 3; i++) add_attention(128 << i, ATTENTION_NAIVE);
    const Config c = attention(1024, ATTENTION_NAIVE);
    Record *r = add(&c, RECORD_OOM);
    record_put_number(r, "mem_before_bwd_mib", 1e9);
    record_put_phase(r, "forward", RECORD_OOM, NULL);
    record_put_number(r, "forward.median_ms", 1e9);
    assert_int_equal(growth_make(&growth, &set), ST_OK);
    assert_int_equal(growth.n, 1);
    assert_int_equal(growth.sweeps[0].points, 3);
    growth_free(&growth);
    record_set_free(&set);
    assert_int_equal(empty_set(NULL), 0);
    for (int i = 0; i < 2; i++) add_attention(128 << i, ATTENTION_NAIVE);
    assert_int_equal(growth_make(&growth, &set), ST_OK);
    assert_int_equal(growth.n, 0); /* two are no sweep */
    growth_free(&growth);
}

/* ---- text and JSON ---- */

static void check_golden(const char *made, const char *path)
{
    Text golden = {0};
    if (getenv("ROOFSTEP_UPDATE_GOLDEN"))
        assert_int_equal(text_write_file(path, made, strlen(made)), ST_OK);
    if (text_read_file(&golden, path, 1 << 20) != ST_OK) fail_msg("%s", status_message());
    assert_string_equal(made, text_str(&golden));
    text_free(&golden);
}

static void put_sentences(Text *out)
{
    Growth growth;
    const ColumnSet names = column_distinct(&set);
    assert_int_equal(growth_make(&growth, &set), ST_OK);
    for (int s = 0; s < growth.n; s++) {
        text_puts(out, "\n");
        growth_report_sentence(out, &names, &growth.sweeps[s]);
        text_puts(out, "\n");
    }
    growth_free(&growth);
}

/* Laws with a floor and without one; no law; a floor that hides the law; terms of every degree and
 * none; too few points. */
static void add_every_kind(void)
{
    for (int i = 0; i < 7; i++) {
        Record *naive = add_attention(64 << i, ATTENTION_NAIVE);
        Record *flash = add_attention(64 << i, ATTENTION_FLASH);
        record_put_number(naive, "peak_alloc_mib", pow(1.3, i)); /* not told of attention alone */
        put_phase(flash, "backward", i < 6 ? 5 : 6, i);
        const Config c = attention(64 << i, ATTENTION_FUSED);
        Record *fused = add(&c, RECORD_OK);
        put_phase(fused, "forward", (64 << i) * (i < 3 ? 1e-3 : 4e-3), i);
        put_phase(fused, "backward", 5 + 0.3 * (i % 2), i);
        record_put_number(fused, "mem_before_bwd_mib", pow(64 << i, 1.5) / 64);
    }
    for (int i = 0; i < 3; i++) {
        Config c = attention(256 << i, ATTENTION_NAIVE);
        c.d_head = 128;
        put_phase(add(&c, RECORD_OK), "forward", 1 << i, i);
    }
}

static void text_is_as_recorded(void **state)
{
    (void)state;
    Text text = {0};
    add_every_kind();
    assert_int_equal(growth_report_write(&text, "md", &set), ST_OK);
    put_sentences(&text);
    check_golden(text_str(&text), "golden/growth.md");
    text_free(&text);
}

static void json_is_as_recorded(void **state)
{
    (void)state;
    json_t *list = NULL;
    add_every_kind();
    assert_int_equal(growth_json(&list, &set), ST_OK);
    char *dump = json_dumps(list, JSON_INDENT(1) | JSON_REAL_PRECISION(4));
    check_golden(dump, "golden/growth.json");
    free(dump);
    json_decref(list);
}

/* Files have it beside their results, and are read as before. */
static void files_have_it(void **state)
{
    (void)state;
    Text text = {0};
    RecordSet again;
    for (int i = 0; i < 5; i++) add_attention(128 << i, ATTENTION_NAIVE);
    assert_int_equal(record_file_json(&text, &set), ST_OK);
    json_t *root = json_loads(text_str(&text), 0, NULL);
    assert_true(json_array_size(json_object_get(root, "growth")) > 0);
    assert_int_equal(record_set_init(&again, NULL), ST_OK);
    assert_int_equal(record_file_parse(&again, text_str(&text), text.n, "x", NULL), ST_OK);
    assert_int_equal(record_set_size(&again), 5);
    record_set_free(&again);
    json_decref(root);
    text_free(&text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, empty_set, free_set)
    const struct CMUnitTest tests[] = {
        TEST(rows_that_differ_in_one_axis_are_a_sweep),
        TEST(what_is_another_work_is_kept_apart),
        TEST(what_was_not_measured_is_left_out),
        TEST(text_is_as_recorded),
        TEST(json_is_as_recorded),
        TEST(files_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
