/* The statistic that a result goes by: what is derived from it, and what changing it does. */
#include "bench/record/record_stat.h"
#include "with_cmocka.h"

#include <math.h>

/* Seven steps of a tiny model whose median is 20, mean 30 and minimum 10 ms, with FLOPs and limits. */
static Record *some_record(Stat stat)
{
    static const double step[] = {0.010, 0.015, 0.018, 0.020, 0.025, 0.032, 0.090};
    Config c;
    Record *r = NULL;
    config_defaults(&c);
    c.stat = stat;
    c.batch = 2;
    c.ctx = 100;
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_int_equal(record_put_samples(r, "step", step, 7), ST_OK);
    assert_int_equal(record_put_samples(r, "forward", step, 5), ST_OK);
    assert_int_equal(record_put_number(r, "flops_per_step", 6e9), ST_OK);
    assert_int_equal(record_put_number(r, "forward_flops", 1.8e9), ST_OK);
    assert_int_equal(record_put_number(r, "limit_tflops", 0.6), ST_OK);
    assert_int_equal(record_put_number(r, "limit_step_ms", 9), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_stat_put_rates(r), ST_OK);
    return r;
}

static void is(const Record *r, const char *path, double want)
{
    double x = NAN;
    record_number(r, path, &x);
    if (!(fabs(x - want) <= 1e-9 * fabs(want))) fail_msg("%s is %.12g, not %.12g", path, x, want);
}

static void rates_follow_the_statistic(void **state)
{
    (void)state;
    static const double ms[STAT_COUNT] = {[STAT_MEDIAN] = 20, [STAT_MEAN] = 30, [STAT_MIN] = 10};
    static const double forward[STAT_COUNT] = {
        [STAT_MEDIAN] = 18, [STAT_MEAN] = 17.6, [STAT_MIN] = 10};
    for (int s = 0; s < STAT_COUNT; s++) {
        double step;
        Record *r = some_record((Stat)s);
        assert_string_equal(record_text(r, "stat"), config_stats[s]);
        assert_true(record_stat_ms(r, "step", &step) && fabs(step - ms[s]) < 1e-9);
        is(r, "tokens_per_s", 200 / (ms[s] * 1e-3));
        is(r, "tflops", 6 / ms[s]);
        is(r, "mfu", 10 / ms[s]);
        is(r, "percent_of_limit", 900 / ms[s]);
        is(r, "forward_tflops", 1.8 / forward[s]);
        json_decref(r);
    }
}

/* A step has the tokens of all its micro-batches. */
static void tokens_of_micro_batches(void **state)
{
    (void)state;
    Record *r = some_record(STAT_MEDIAN);
    assert_int_equal(record_put_int(r, "accumulate", 3), ST_OK);
    assert_int_equal(record_stat_put_rates(r), ST_OK);
    is(r, "tokens_per_s", 600 / 20e-3);
    json_decref(r);
}

/* Of a median to the farther end of its interval, which 5 samples have not; of a mean the standard
 * deviation. */
static void spreads_are_of_their_kind(void **state)
{
    (void)state;
    double spread;
    Record *median = some_record(STAT_MEDIAN), *mean = some_record(STAT_MEAN);
    Record *least = some_record(STAT_MIN);
    assert_true(record_stat_spread(median, "step", &spread) && fabs(spread - 70) < 1e-9);
    assert_false(record_stat_spread(median, "forward", &spread));
    is(mean, "step.std_ms", (record_stat_spread(mean, "step", &spread), spread));
    assert_true(record_stat_spread(mean, "forward", &spread));
    assert_false(record_stat_spread(least, "step", &spread));
    assert_false(record_stat_spread(median, "backward", &spread));
    json_decref(median);
    json_decref(mean);
    json_decref(least);
}

static void changing_it_derives_anew(void **state)
{
    (void)state;
    Record *r = some_record(STAT_MEAN), *want = some_record(STAT_MEDIAN);
    assert_int_equal(record_stat_change(r, STAT_MEDIAN), ST_OK);
    assert_true(json_equal(r, want));
    json_decref(r);
    json_decref(want);
}

/* A file from before there was a choice. */
static void without_a_word_it_is_the_mean(void **state)
{
    (void)state;
    double ms;
    Record *r = some_record(STAT_MEAN);
    json_object_del(r, "stat");
    assert_int_equal(record_stat(r), STAT_MEAN);
    assert_true(record_stat_ms(r, "step", &ms) && fabs(ms - 30) < 1e-9);
    json_decref(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_micro_batches),
        cmocka_unit_test(rates_follow_the_statistic),
        cmocka_unit_test(spreads_are_of_their_kind),
        cmocka_unit_test(changing_it_derives_anew),
        cmocka_unit_test(without_a_word_it_is_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
