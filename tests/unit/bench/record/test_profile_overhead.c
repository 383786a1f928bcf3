/* When the cost of being watched is told from noise, and in which words. */
#include "bench/record/profile_overhead.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

/* `n` samples from `first` on, each `step` longer than the one before. */
static json_t *samples(double first, double step, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real(first + step * i));
    return list;
}

static json_t *tally(double middle, int n)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "n", n, "total", middle * n, "avg",
                     middle, "med", middle, "min", middle, "max", middle, "std", 0.0);
}

/* A step of 10 to 10.9 ms, profiled in `first` ms and more. */
static Record *record(double first, int n)
{
    json_t *profile =
        json_pack("{s:i, s:i, s:i, s:f, s:o, s:o, s:[{s:s, s:o, s:o}]}", "steps", n, "traced_steps",
                  0, "events_left_out", 0, "loop", 1.0, "step", tally(first * 1e6, n),
                  "step_samples", samples(first * 1e6, 1e5, n), "phases", "phase", "forward",
                  "wall", tally(first * 1e6, n), "samples", samples(first * 1e6, 1e5, n));
    return json_pack("{s:{s:s, s:f, s:f, s:o}, s:{s:s, s:f, s:f, s:o}, s:o}", "step", "status",
                     "ok", "mean_ms", 10.0, "median_ms", 20.0, "samples_ms", samples(10, 0.1, n),
                     "forward", "status", "ok", "mean_ms", 10.0, "median_ms", 20.0, "samples_ms",
                     samples(10, 0.1, n), "profile", profile);
}

static ProfileOverhead overhead_of(Record *r, Phase phase, Text *text)
{
    ProfileView view;
    assert_int_equal(profile_view_make(&view, r), ST_OK);
    const ProfileOverhead overhead = profile_overhead(&view, phase);
    profile_view_free(&view);
    profile_overhead_text(&overhead, text);
    json_decref(r);
    return overhead;
}

static void within_noise(void **state)
{
    (void)state;
    static const Phase phases[] = {PHASE_COUNT, PHASE_FORWARD};
    for (int i = 0; i < 2; i++) {
        Text text = {0};
        const ProfileOverhead overhead = overhead_of(record(9.9, 10), phases[i], &text);
        assert_true(profile_overhead_is_noise(&overhead));
        assert_true(overhead.low < 0 && overhead.high > 0);
        assert_true(fabs(overhead.percent + 1) < 1e-9);
        assert_ptr_equal(strstr(text_str(&text), "within noise (-1.0 %, 95 % interval -"),
                         text_str(&text));
        text_free(&text);
    }
}

static void a_cost(void **state)
{
    (void)state;
    Text text = {0};
    const ProfileOverhead overhead = overhead_of(record(12, 10), PHASE_COUNT, &text);
    assert_false(profile_overhead_is_noise(&overhead));
    assert_true(overhead.low > 10 && overhead.high < 30);
    assert_ptr_equal(strstr(text_str(&text), "+20.0 % (95 % interval +"), text_str(&text));
    text_free(&text);
}

/* Steps that are faster when watched are no noise either. */
static void a_gain(void **state)
{
    (void)state;
    Text text = {0};
    const ProfileOverhead overhead = overhead_of(record(8, 10), PHASE_COUNT, &text);
    assert_false(profile_overhead_is_noise(&overhead));
    assert_true(overhead.high < 0);
    text_free(&text);
}

/* Three and three samples have no interval; without any, nothing is claimed. */
static void too_few(void **state)
{
    (void)state;
    Text text = {0};
    const ProfileOverhead few = overhead_of(record(9.9, 3), PHASE_COUNT, &text);
    assert_false(profile_overhead_is_noise(&few));
    assert_string_equal(text_str(&text), "-1.0 %, with too few samples to tell it from noise");
    text_clear(&text);
    Record *r = record(9.9, 10);
    json_object_del(r, "step");
    const ProfileOverhead none = overhead_of(r, PHASE_COUNT, &text);
    assert_true(isnan(none.percent));
    assert_string_equal(text_str(&text), "not measured");
    text_free(&text);
}

/* A file of an older version has no samples of the watched steps: nothing is said of noise. */
static void no_samples(void **state)
{
    (void)state;
    Text text = {0};
    Record *r = record(9.9, 10);
    json_object_del(json_object_get(r, "profile"), "step_samples");
    const ProfileOverhead overhead = overhead_of(r, PHASE_COUNT, &text);
    assert_false(profile_overhead_is_noise(&overhead));
    assert_string_equal(text_str(&text), "-1.0 %");
    text_free(&text);
}

/* The statistic of the record's tables is that of the overhead. */
static void statistic(void **state)
{
    (void)state;
    Text text = {0};
    Record *r = record(22, 10);
    json_object_set_new(r, "stat", json_string("median"));
    assert_true(fabs(overhead_of(r, PHASE_COUNT, &text).percent - 10) < 1e-9);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(within_noise), cmocka_unit_test(a_cost),
                                       cmocka_unit_test(a_gain),       cmocka_unit_test(too_few),
                                       cmocka_unit_test(no_samples),   cmocka_unit_test(statistic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
