/* Warnings fit what happened: which samples, by which statistic, beside which load, call for which. */
#include "bench/cell/cell_record.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 10 };

typedef struct Case {
    Stat stat;
    double ms[MOST]; /* ended by 0 */
    double others_percent;
    const char *warning; /* a part of the only one; NULL: there is none */
} Case;

static void tell(CellRecord *cell, const char *line)
{
    cell_record_take(cell, line, strlen(line));
}

static void check(const Case *c)
{
    const ChildResult returned = {.end = CHILD_RETURNED};
    Config config;
    CellRecord cell;
    char line[96];
    config_defaults(&config);
    config.stat = c->stat;
    assert_int_equal(cell_record_begin(&cell, &config, NULL), ST_OK);
    for (int i = 0; i < MOST && c->ms[i] > 0; i++) {
        snprintf(line, sizeof line, "{\"sample\": {\"step\": %.9f}}", c->ms[i] * 1e-3);
        tell(&cell, line);
    }
    snprintf(line, sizeof line, "{\"facts\": {\"others_percent\": %.1f}}", c->others_percent);
    tell(&cell, line);
    tell(&cell, "{\"end\": \"ok\", \"message\": null}");
    assert_int_equal(cell_record_finish(&cell, &returned), ST_OK);
    assert_int_equal(record_status(cell.record), RECORD_OK);
    const json_t *list = record_value(cell.record, "warnings");
    const char *text = json_string_value(json_array_get(list, 0));
    assert_int_equal(json_array_size(list), c->warning != NULL);
    if (c->warning && !strstr(text, c->warning)) fail_msg("'%s' without '%s'", text, c->warning);
    cell_record_free(&cell);
}

static void warnings_fit_what_happened(void **state)
{
    (void)state;
    static const Case cases[] = {
        /* 1.5 % of spread, an outlier by any rule among samples that are nearly equal */
        {STAT_MEDIAN, {100, 100.1, 99.9, 100, 100.1, 99.9, 100, 101.5, 100, 100}, 0, NULL},
        {STAT_MEAN, {100, 100.1, 99.9, 100, 100.1, 99.9, 100, 101.5, 100, 100}, 0, NULL},
        /* one sample three times as long touches a mean, not a median */
        {STAT_MEDIAN, {100, 101, 99, 100, 101, 99, 100, 300, 100, 100}, 0, NULL},
        {STAT_MEAN,
         {100, 101, 99, 100, 101, 99, 100, 300, 100, 100},
         0,
         "the mean of the step is uncertain by 53 %: take more --steps"},
        {STAT_MIN, {100, 150, 99, 200, 101, 180, 100, 300, 120, 100}, 0, NULL},
        /* the samples wander */
        {STAT_MEDIAN,
         {100, 150, 90, 200, 110, 180, 100, 300, 120, 100},
         0,
         "the median of the step is uncertain by"},
        /* too few for an interval: their range */
        {STAT_MEDIAN, {100, 101, 112}, 0, "uncertain by 12 %"},
        {STAT_MEDIAN, {100, 101, 102}, 0, NULL},
        /* the first one alone is slow, by more than a little */
        {STAT_MEDIAN,
         {300, 101, 99, 100, 101, 99, 100, 100, 100, 100},
         0,
         "more warm-up is needed, try --warmup 10"},
        {STAT_MEDIAN, {103, 100, 100, 100, 100, 100, 100, 100, 100, 100}, 0, NULL},
        /* where others had the processors, that is the cause, and all that is said */
        {STAT_MEDIAN,
         {100, 150, 90, 200, 110, 180, 100, 300, 120, 100},
         20,
         "20 % of the CPU time went to other programs during the samples: stop them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

/* What the plan said before the run stays true. Memory that ran out during the run may be there the next
 * time. */
static void planned_shortages_are_final(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        bool final;
    } cases[] = {
        {"{\"status\": \"oom\"}", false},
        {"{\"status\": \"oom\", \"optimizer\": {\"status\": \"oom\"}}", true},
        {"{\"status\": \"oom\", \"reference\": {\"status\": \"oom\"}}", true},
        {"{\"status\": \"killed\", \"reference\": {\"status\": \"oom\"}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *record = json_loads(cases[i].record, 0, NULL);
        assert_non_null(record);
        assert_int_equal(cell_record_is_final(record), cases[i].final);
        json_decref(record);
    }
}

static void ranks_tell_the_mean_of_rounds(void **state)
{
    (void)state;
    static const double rounds[] = {1, 2, 6};
    Config config;
    CellRecord cell;
    char line[128];
    config_defaults(&config);
    assert_int_equal(cell_record_begin(&cell, &config, NULL), ST_OK);
    for (size_t i = 0; i < 3; i++) {
        snprintf(line, sizeof line,
                 "{\"facts\": {\"communication_ms\": %.1f, \"exposed_ms\": %.1f, \"calls\": %.1f}}",
                 rounds[i], 2 * rounds[i], rounds[i]);
        tell(&cell, line);
        tell(&cell, "{\"facts\": {\"loss\": 1.0}}"); /* of something else */
    }
    assert_true(fabs(record_real(cell.record, "communication_ms") - 3) < 1e-12);
    assert_true(fabs(record_real(cell.record, "exposed_ms") - 6) < 1e-12);
    assert_true(record_real(cell.record, "calls") == 6);
    cell_record_free(&cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warnings_fit_what_happened),
                                       cmocka_unit_test(ranks_tell_the_mean_of_rounds),
                                       cmocka_unit_test(planned_shortages_are_final)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
