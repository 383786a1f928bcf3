/* Real cells of a small model. */
#include "cell_rows.h"

static Config small_config(void)
{
    Config c;
    config_defaults(&c);
    strcpy(c.model.size, "custom");
    c.model.d_model = 64;
    c.model.d_ff = 96;
    c.model.num_layers = 2;
    c.model.num_heads = 4;
    c.model.vocab = 101;
    c.ctx = 12;
    c.batch = 2;
    c.threads = 2;
    c.warmup = 2;
    c.steps = 4;
    c.timeout = 60;
    return c;
}

static const int64_t small_parameters =
    2 * 101 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 64;

static void test_training(void **state)
{
    (void)state;
    const Config c = small_config();
    RecordSet rows;
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    assert_string_equal(record_text(r, "measured_mode"), "train");
    assert_string_equal(record_text(r, "device"), "cpu");
    assert_string_equal(record_text(r, "attention"), "flash");
    int64_t parameters = 0;
    assert_true(record_int(r, "parameters", &parameters));
    assert_int_equal(parameters, small_parameters);
    static const char *const phases[] = {"forward.samples_ms", "backward.samples_ms",
                                         "optimizer.samples_ms", "step.samples_ms"};
    for (int i = 0; i < 4; i++) assert_int_equal(samples(r, phases[i]), 4);
    const double parts = number(r, "forward.mean_ms") + number(r, "backward.mean_ms") +
                         number(r, "optimizer.mean_ms");
    assert_true(fabs(parts - number(r, "step.mean_ms")) < 1e-6 * parts);
    assert_true(number(r, "cold_step_ms") > 0);
    const double loss = number(r, "loss"); /* six steps on one batch: below ln V */
    assert_true(loss > 0 && loss < 5);
    assert_true(number(r, "skipped_steps") == 0);
    assert_true(number(r, "planned_peak_mib") >= number(r, "peak_alloc_mib"));
    assert_true(number(r, "tokens_per_s") > 0 && number(r, "tflops") > 0);
    record_set_free(&rows);
}

static bool has_warning(const Record *r, const char *part)
{
    size_t i;
    json_t *text;
    json_array_foreach(record_value(r, "warnings"), i, text)
    {
        if (strstr(json_string_value(text), part)) return true;
    }
    return false;
}

static void test_divergence_is_told(void **state)
{
    (void)state;
    Config c = small_config();
    RecordSet rows;
    const Record *r = run(&c, &rows);
    assert_false(has_warning(r, "not a finite number"));
    record_set_free(&rows);

    c.lr = 1e6;
    r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    assert_true(json_is_null(record_value(r, "loss")));
    assert_true(has_warning(r, "not a finite number"));
    assert_true(has_warning(r, "--lr 1e+06"));
    record_set_free(&rows);
}

static void test_modes(void **state)
{
    (void)state;
    Config c = small_config();
    RecordSet rows;
    c.mode = MODE_FWD;
    c.warmup = 0;
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    assert_int_equal(record_phase_status(r, "backward"), RECORD_STATUS_COUNT);
    assert_int_equal(samples(r, "forward.samples_ms"), 4);
    assert_true(number(r, "cold_step_ms") > 0);
    const double forward_loss = number(r, "loss");
    record_set_free(&rows);

    c.mode = MODE_FWD_BWD;
    r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    assert_int_equal(record_phase_status(r, "optimizer"), RECORD_STATUS_COUNT);
    assert_int_equal(samples(r, "backward.samples_ms"), 4);
    assert_true(number(r, "loss") == forward_loss); /* nothing was updated */
    record_set_free(&rows);
}

static void test_precisions_and_eager(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_BF16, PRECISION_FP16};
    Config c = small_config();
    c.steps = 2;
    for (int i = 0; i < 2; i++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            RecordSet rows;
            c.precision = precisions[i];
            c.exec = (Exec)exec;
            const Record *r = run(&c, &rows);
            if (record_status(r) != RECORD_OK) fail_msg("%s", record_text(r, "message"));
            assert_string_equal(record_text(r, "attention"),
                                exec == EXEC_EAGER ? "naive" : "flash");
            assert_true(number(r, "loss") > 0);
            record_set_free(&rows);
        }
    }
}

static void test_unsupported(void **state)
{
    (void)state;
    Config c = small_config();
    RecordSet rows;
    c.precision = PRECISION_TF32;
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_UNSUPPORTED);
    assert_non_null(strstr(record_text(r, "message"), "tf32"));
    record_set_free(&rows);
}

/* Big enough that the modes' needs differ by more than this process's own memory wavers. */
static Config wide_config(void)
{
    Config c = small_config();
    c.model.vocab = 100003;
    c.ctx = 2;
    c.batch = 1;
    c.steps = 1;
    c.warmup = 0;
    return c;
}

static void test_only_forward_fits(void **state)
{
    (void)state;
    Config c = wide_config();
    const size_t forward = need(&c, MODE_FWD_GRAD), both = need(&c, MODE_FWD_BWD);
    assert_true(both > forward + ((size_t)16 << 20));
    c.memory_limit = (int64_t)((forward + both) / 2);
    RecordSet rows;
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OOM);
    assert_non_null(strstr(record_text(r, "message"), "short by"));
    assert_string_equal(record_text(r, "measured_mode"), "fwd_grad");
    assert_int_equal(record_phase_status(r, "forward"), RECORD_OK);
    assert_int_equal(record_phase_status(r, "backward"), RECORD_OOM);
    assert_int_equal(record_phase_status(r, "optimizer"), RECORD_OOM);
    assert_non_null(strstr(record_text(r, "optimizer.message"), "needs"));
    assert_int_equal(samples(r, "step.samples_ms"), 1);
    record_set_free(&rows);

    c.memory_limit = (int64_t)((both + need(&c, MODE_TRAIN)) / 2);
    r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OOM);
    assert_string_equal(record_text(r, "measured_mode"), "fwd_bwd");
    assert_int_equal(record_phase_status(r, "backward"), RECORD_OK);
    assert_int_equal(record_phase_status(r, "optimizer"), RECORD_OOM);
    record_set_free(&rows);
}

/* Where what backward needs does not fit, a forward pass that keeps nothing is measured. */
static void test_graph_does_not_fit(void **state)
{
    (void)state;
    Config c = wide_config();
    RecordSet rows;
    c.model.vocab = 101;
    c.model.num_layers = 16;
    c.ctx = 128;
    c.batch = 16;
    c.mode = MODE_FWD_GRAD;
    const size_t forward = need(&c, MODE_FWD), graph = need(&c, MODE_FWD_GRAD);
    assert_true(graph > forward + ((size_t)16 << 20));
    c.memory_limit = (int64_t)((forward + graph) / 2);
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OOM);
    assert_string_equal(record_text(r, "measured_mode"), "fwd");
    assert_int_equal(record_phase_status(r, "backward"), RECORD_STATUS_COUNT);
    record_set_free(&rows);
}

static void test_nothing_fits(void **state)
{
    (void)state;
    Config c = wide_config();
    RecordSet rows;
    c.memory_limit = 1 << 20;
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OOM);
    assert_int_equal(record_phase_status(r, "forward"), RECORD_OOM);
    assert_null(record_text(r, "measured_mode"));
    int64_t parameters = 0;
    assert_true(record_int(r, "parameters", &parameters));
    record_set_free(&rows);
}

/* The plan's peak against what the kernel saw, and the limit against both. */
static void test_plan_and_process_agree(void **state)
{
    (void)state;
#ifdef ROOFSTEP_SANITIZED
    skip(); /* sanitizers keep memory of their own for every page */
#endif
    const Config c = wide_config();
    RecordSet rows;
    const Record *r = run(&c, &rows);
    const double planned = number(r, "planned_peak_mib"), real = number(r, "rss_peak_mib");
    assert_true(planned > 90);
    if (fabs(real - planned) > fmax(32, 0.03 * planned)) fail_msg("%g, planned %g", real, planned);
    record_set_free(&rows);
}

/* With limits stored for this machine: what was reached is also told as a share of them. */
static void test_share_of_limits(void **state)
{
    (void)state;
    const Limits limits = some_limits(2e12, 1e11);
    const Config c = small_config();
    RecordSet rows;
    const Record *r = run(&c, &rows);
    double none = 0;
    assert_false(record_number(r, "mfu", &none) || record_number(r, "limit_tflops", &none));
    record_set_free(&rows);

    assert_int_equal(limits_cache_store(&limits), ST_OK);
    r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    assert_true(fabs(number(r, "limit_tflops") - 2) < 1e-9);
    assert_true(fabs(number(r, "mfu") - number(r, "tflops") / 2) < 1e-9);
    const double share = 100 * number(r, "limit_step_ms") / number(r, "step.median_ms");
    assert_true(share > 0 && fabs(number(r, "percent_of_limit") - share) < 1e-9);
    assert_false(has_warning(r, "of the measured limit"));
    record_set_free(&rows);

    const Limits low = some_limits(1e3, 1e3); /* no machine is that slow */
    assert_int_equal(limits_cache_store(&low), ST_OK);
    r = run(&c, &rows);
    assert_true(number(r, "mfu") > 1 && has_warning(r, "of the measured limit: this machine was"));
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_divergence_is_told),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_precisions_and_eager),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_only_forward_fits),
        cmocka_unit_test(test_graph_does_not_fit),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_plan_and_process_agree),
        cmocka_unit_test(test_share_of_limits),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
