#include "bench/record/repeated_starts.h"
#include "with_cmocka.h"

static void add(RecordSet *set, const char *key, double seconds, RecordStatus status)
{
    Record *record = json_pack("{s:s}", "cell", key);
    const double samples[] = {seconds, seconds * 0.9, seconds * 1.1};
    assert_int_equal(record_put_status(record, status, NULL), ST_OK);
    if (status == RECORD_OK)
        assert_int_equal(record_put_samples(record, "step", samples, 3), ST_OK);
    assert_int_equal(record_set_add(set, record), ST_OK);
    json_decref(record);
}

static size_t samples_of(const RecordSet *set, const char *key)
{
    return json_array_size(record_value(record_set_find(set, key), "step.samples_ms"));
}

static void each_start_is_a_sample(void **state)
{
    (void)state;
    RecordSet in, out;
    int most = 0;
    double ms = 0;
    assert_int_equal(record_set_init(&in, NULL), ST_OK);
    assert_int_equal(record_set_init(&out, NULL), ST_OK);
    add(&in, "a", 0.1, RECORD_OK);
    add(&in, "b", 0.5, RECORD_OK);
    add(&in, "a", 0.2, RECORD_OK);
    add(&in, "a", 0.2, RECORD_OK); /* a copy of the row before it */
    add(&in, "a", 0.3, RECORD_OK);
    add(&in, "a", 0.0, RECORD_FAILED);
    add(&in, "c", 0.0, RECORD_OOM);
    assert_int_equal(repeated_starts_join(&out, &in, &most), ST_OK);
    assert_int_equal(most, 3);
    assert_int_equal(record_set_size(&out), 3);
    assert_int_equal(samples_of(&out, "a"), 3);
    assert_true(record_number(record_set_find(&out, "a"), "step.median_ms", &ms));
    assert_true(ms > 199.9 && ms < 200.1);
    assert_int_equal(samples_of(&out, "b"), 3); /* one start: its steps */
    assert_int_equal(record_status(record_set_find(&out, "c")), RECORD_OOM);
    record_set_free(&in);
    record_set_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_start_is_a_sample)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
