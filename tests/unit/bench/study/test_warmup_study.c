/* Runs whose slow steps are known: how many warm-ups are enough must come out. */
#include "base/rng.h"
#include "bench/study/warmup_study.h"
#include "with_cmocka.h"

#include <math.h>

/* Adds a run: `slow` steps at the start of the process take twice as long, all with 1 % noise. */
static void add_run(RecordSet *rows, int64_t warmup, int round, int slow, int steps)
{
    double seconds[32];
    Config config;
    Record *record;
    config_warmup_defaults(&config);
    config.warmup = warmup;
    config.steps = steps;
    assert_int_equal(record_new(&record, &config), ST_OK);
    for (int i = 0; i < steps; i++) {
        const double noise = rng_uniform(7, (uint64_t)(100 * warmup + round), (uint64_t)i) - 0.5;
        seconds[i] = (warmup + i < slow ? 0.020 : 0.010) * (1 + 0.02 * noise);
    }
    assert_int_equal(record_put_samples(record, "step", seconds, steps), ST_OK);
    assert_int_equal(record_put_number(record, "cold_step_ms", 20), ST_OK);
    assert_int_equal(record_put_number(record, "open_ms", 3), ST_OK);
    assert_int_equal(record_put_int(record, "cold_page_faults", 1234), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_set_add(rows, record), ST_OK);
    json_decref(record);
}

static WarmupStudy study_of(int slow, int rounds)
{
    static const int64_t warmups[] = {10, 0, 5, 1, 2};
    RecordSet rows;
    WarmupStudy study;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    for (int r = 0; r < rounds; r++) {
        for (int w = 0; w < 5; w++) add_run(&rows, warmups[w], r, slow, 10);
    }
    assert_int_equal(warmup_study_make(&study, &rows), ST_OK);
    record_set_free(&rows);
    return study;
}

static void test_as_many_as_are_slow(void **state)
{
    (void)state;
    for (int slow = 0; slow <= 9; slow++) {
        const WarmupStudy study = study_of(slow, 3);
        assert_false(study.undecided);
        if (study.enough != slow) fail_msg("%lld, not %d", (long long)study.enough, slow);
        assert_true(fabs(study.steady / 10 - 1) < 0.02);
    }
}

static void test_not_steady_and_undecided(void **state)
{
    (void)state;
    const WarmupStudy late = study_of(15, 3);
    assert_int_equal(late.enough, -1);
    assert_false(late.undecided);
    RecordSet rows;
    WarmupStudy few;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    add_run(&rows, 0, 0, 1, 2);
    add_run(&rows, 2, 0, 1, 2);
    assert_int_equal(warmup_study_make(&few, &rows), ST_OK);
    assert_true(few.undecided); /* one step against two: chance would do it in every third case */
    record_set_free(&rows);
}

/* A machine whose speed changes from run to run: no advice. */
static void test_noise_is_no_advice(void **state)
{
    (void)state;
    RecordSet rows;
    WarmupStudy study;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    for (int r = 0; r < 4; r++) {
        add_run(&rows, 0, r, 1, 10);
        add_run(&rows, 5, r, r % 2 ? 30 : 0, 10); /* every other one twice as slow throughout */
    }
    assert_int_equal(warmup_study_make(&study, &rows), ST_OK);
    assert_true(study.noisy && study.noise > 0.3);
    record_set_free(&rows);
    assert_false(study_of(3, 3).noisy);
}

/* A number of warm-ups from a file is not counted up to. */
static void test_far_apart(void **state)
{
    (void)state;
    RecordSet rows;
    WarmupStudy study;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    for (int r = 0; r < 4; r++) {
        add_run(&rows, 0, r, 10, 10);
        add_run(&rows, INT64_C(1000000000000000), r, 0, 10);
    }
    assert_int_equal(warmup_study_make(&study, &rows), ST_OK);
    assert_int_equal(study.enough, -1);
    assert_true(study.steady_from > INT64_C(1000000000000000));
    assert_int_equal(record_put_int(record_set_at(&rows, 1), "warmup", INT64_MAX), ST_OK);
    assert_int_equal(warmup_study_make(&study, &rows), ST_OK);
    record_set_free(&rows);
}

static void test_settings(void **state)
{
    (void)state;
    const WarmupStudy study = study_of(2, 4);
    assert_int_equal(study.n, 5);
    assert_int_equal(study.settings[0].warmup, 0);
    assert_int_equal(study.settings[4].warmup, 10);
    assert_int_equal(study.settings[0].runs, 4);
    assert_true(fabs(study.settings[0].mean - 12) < 0.2); /* 2 of 10 take 20 ms */
    assert_true(fabs(study.settings[1].mean - 11) < 0.2);
    assert_true(fabs(study.settings[0].std - 4.22) < 0.2); /* sqrt(2 * 8^2 + 8 * 2^2) / sqrt(9) */
    assert_true(study.settings[4].std < 0.2);
    assert_true(fabs(study.settings[0].first - 20) < 0.5 &&
                fabs(study.settings[1].second - 10) < 0.5);
    assert_true(study.cold.first == 20 && study.cold.open == 3 && study.cold.faults == 1234);
    assert_true(study.cold.capture == 0 && isnan(study.cold.system));
}

static void test_nothing_measured(void **state)
{
    (void)state;
    RecordSet rows;
    WarmupStudy study;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    assert_int_equal(warmup_study_make(&study, &rows), ST_FAILED);
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_as_are_slow), cmocka_unit_test(test_not_steady_and_undecided),
        cmocka_unit_test(test_noise_is_no_advice),  cmocka_unit_test(test_settings),
        cmocka_unit_test(test_nothing_measured),    cmocka_unit_test(test_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
