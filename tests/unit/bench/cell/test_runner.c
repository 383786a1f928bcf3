/* One cell: what it does and what its row says. */
#include "fake_cells.h"

static void test_fine(void **state)
{
    (void)state;
    RecordSet rows;
    const Record *r = run_one(FINE, 20, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    near(number(r, "forward.mean_ms"), 11);
    near(number(r, "forward.std_ms"), 1);
    near(number(r, "step.median_ms"), 36);
    assert_int_equal(json_array_size(record_value(r, "backward.samples_ms")), 3);
    near(number(r, "tokens_per_s"), 4 * 128 / 0.036);
    near(number(r, "tflops"), 0.1);
    near(number(r, "mfu"), 0.5);
    near(number(r, "percent_of_limit"), 50);
    record_set_free(&rows);
}

static void test_statuses(void **state)
{
    (void)state;
    static const struct {
        enum Behaviour what;
        RecordStatus status;
        const char *message;
    } cases[] = {
        {FORWARD_ONLY, RECORD_OOM, "needs much"},
        {TOO_BIG, RECORD_OOM, "needs 12 GiB"},
        {NOT_HERE, RECORD_UNSUPPORTED, "no such thing"},
        {BROKEN, RECORD_FAILED, "unwell"},
        {CRASHES, RECORD_FAILED, "SIGSEGV"},
        {EXITS, RECORD_FAILED, "exit code 9; last line: cannot go on"},
        {KILLED, RECORD_KILLED, "memory"},
        {GARBAGE, RECORD_FAILED, "cannot read its messages"},
        {WRONG_TYPE, RECORD_FAILED, "'parameters' must be"},
        {SAYS_NOTHING, RECORD_FAILED, "without a result"},
        {NO_SAMPLES, RECORD_FAILED, "without a sample"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RecordSet rows;
        const Record *r = run_one(cases[i].what, 20, &rows);
        assert_int_equal(record_status(r), cases[i].status);
        const char *message = record_text(r, "message");
        assert_non_null(message);
        if (!strstr(message, cases[i].message)) fail_msg("%s", message);
        record_set_free(&rows);
    }
}

static void test_forward_only(void **state)
{
    (void)state;
    RecordSet rows;
    const Record *r = run_one(FORWARD_ONLY, 20, &rows);
    assert_int_equal(record_phase_status(r, "forward"), RECORD_OK);
    assert_int_equal(record_phase_status(r, "backward"), RECORD_OOM);
    near(number(r, "tokens_per_s"), 4 * 128 / 0.010);
    record_set_free(&rows);
}

static void test_timeout_keeps_samples(void **state)
{
    (void)state;
    RecordSet rows;
    const Record *r = run_one(HANGS_AFTER_SAMPLES, 1, &rows);
    assert_int_equal(record_status(r), RECORD_TIMEOUT);
    assert_int_equal(record_phase_status(r, "forward"), RECORD_TIMEOUT);
    assert_int_equal(json_array_size(record_value(r, "forward.samples_ms")), 2);
    near(number(r, "flops_per_step"), 3.6e9);
    assert_null(record_value(r, "tokens_per_s"));
    record_set_free(&rows);
}

static void test_chatty(void **state)
{
    (void)state;
    RecordSet rows;
    const Record *r = run_one(CHATTY, 20, &rows);
    assert_int_equal(record_status(r), RECORD_OK);
    const json_t *warnings = record_value(r, "warnings");
    assert_string_equal(json_string_value(json_array_get(warnings, 0)), "not UTF-8: ?");
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fine),         cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_forward_only), cmocka_unit_test(test_timeout_keeps_samples),
        cmocka_unit_test(test_chatty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
