/* Real cells of attention alone. */
#include "cell_rows.h"

static Config attention_config(void)
{
    Config c;
    config_attention_defaults(&c);
    c.d_head = 7;
    c.heads = 2;
    c.ctx = 33;
    c.batch = 3;
    c.threads = 2;
    c.warmup = 2;
    c.steps = 4;
    c.timeout = 60;
    return c;
}

static void test_attention(void **state)
{
    (void)state;
    Config c = attention_config();
    for (int a = ATTENTION_NAIVE; a <= ATTENTION_FLASH; a++) {
        RecordSet rows;
        c.attention = (Attention)a;
        const Record *r = run(&c, &rows);
        if (record_status(r) != RECORD_OK) fail_msg("%s", record_text(r, "message"));
        assert_int_equal(samples(r, "forward.samples_ms"), 4);
        assert_int_equal(samples(r, "backward.samples_ms"), 4);
        assert_true(number(r, "samples") == 4);
        assert_int_equal(record_phase_status(r, "optimizer"), RECORD_STATUS_COUNT);
        assert_null(record_value(r, "loss"));
        assert_null(record_value(r, "tokens_per_s"));
        const double forward = 4.0 * 3 * 2 * 33 * 33 * 7 / 2;
        assert_true(number(r, "flops_per_step") == 3 * forward);
        assert_true(number(r, "forward_flops") == forward);
        assert_true(number(r, "backward_flops") == 2 * forward);
        const double rate = 1e-9 * 2 * forward / number(r, "backward.median_ms");
        assert_true(fabs(number(r, "backward_tflops") - rate) < 1e-9 * rate);
        if (a == ATTENTION_FLASH) { /* q, k, v, the result; a number for each row */
            const double bytes = 4.0 * 4 * 3 * 33 * 2 * 7 + 4.0 * 3 * 2 * 33;
            assert_true(fabs(number(r, "mem_before_bwd_mib") - bytes / 1048576) < 1e-9);
        }
        record_set_free(&rows);
    }
}

/* The scores alone are 64 MiB: the forward pass fits, and what backward would start with is known. */
static void test_attention_without_room(void **state)
{
    (void)state;
    Config c = attention_config();
    RecordSet rows;
    c.ctx = 1024;
    c.heads = 1;
    c.batch = 16;
    c.attention = ATTENTION_FUSED;
    c.steps = 1;
    c.memory_limit = (int64_t)((need(&c, MODE_FWD_GRAD) + need(&c, MODE_FWD_BWD)) / 2);
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_OOM);
    assert_string_equal(record_text(r, "measured_mode"), "fwd_grad");
    assert_int_equal(record_phase_status(r, "forward"), RECORD_OK);
    assert_int_equal(record_phase_status(r, "backward"), RECORD_OOM);
    assert_true(fabs(number(r, "mem_before_bwd_mib") - (64 + 4 * 16 * 1024 * 7 * 4 / 1048576.0)) <
                1e-9);
    record_set_free(&rows);
}

/* Where the fewest samples would take longer than there is time, nothing is begun. */
static void test_hopeless_attention(void **state)
{
    (void)state;
    const Limits limits = some_limits(1e6, 1e6);
    Config c = attention_config();
    RecordSet rows;
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    c.timeout = 0.5; /* 4 steps of 0.27 s */
    const Record *r = run(&c, &rows);
    assert_int_equal(record_status(r), RECORD_TIMEOUT);
    assert_non_null(strstr(record_text(r, "message"), "not begun"));
    record_set_free(&rows);
    c.timeout = 10;
    assert_int_equal(record_status(run(&c, &rows)), RECORD_OK);
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_without_room),
        cmocka_unit_test(test_hopeless_attention),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
