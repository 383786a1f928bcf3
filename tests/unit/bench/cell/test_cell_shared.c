/* Cells that differ in warm-up and steps alone, in one process. */
#include "bench/cell/cell.h"
#include "bench/cell/cell_group.h"
#include "own_cache.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

enum { N = 3 };

static Config small_config(int64_t warmup, int64_t steps)
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
    c.threads = 1;
    c.warmup = warmup;
    c.steps = steps;
    c.timeout = 60;
    return c;
}

typedef struct Rows {
    Config configs[N];
    CellGroup groups[N];
    CellGroup *list[N];
    Progress progress;
    RunnerTask task;
    RecordSet set;
} Rows;

static Status unused(const Config *config, CellLink *link)
{
    (void)config;
    (void)link;
    return FAIL(ST_FAILED, "cells that share a process are not run one by one");
}

/* Returns how many have a result. */
static int run(Rows *rows)
{
    int done = 0;
    bool interrupted = true;
    RunnerOutcome outcome = {0};
    rows->task = (RunnerTask){.configs = rows->configs, .n = N, .cell = unused};
    progress_begin(&rows->progress, N, 0);
    assert_int_equal(record_set_init(&rows->set, NULL), ST_OK);
    for (int i = 0; i < N; i++) {
        rows->list[i] = &rows->groups[i];
        assert_int_equal(cell_group_make(rows->list[i], &rows->task, i + 1, &rows->progress),
                         ST_OK);
    }
    assert_int_equal(cell_group_run_shared(rows->list, N, &done, &interrupted), ST_OK);
    assert_false(interrupted);
    for (int i = 0; i < done; i++)
        assert_int_equal(cell_group_finish(rows->list[i], &rows->set, &outcome), ST_OK);
    for (int i = 0; i < N; i++) cell_group_free(rows->list[i]);
    progress_end(&rows->progress);
    return done;
}

static double number(const Record *r, const char *path)
{
    double x = NAN;
    return record_number(r, path, &x) ? x : NAN;
}

static void each_has_its_own_samples(void **state)
{
    static const int64_t steps[N] = {4, 7, 5};
    Rows rows = {.configs = {small_config(2, 4), small_config(3, 7), small_config(1, 5)}};
    char key[RECORD_KEY_SIZE];
    (void)state;
    assert_int_equal(run(&rows), N);
    for (int i = 0; i < N; i++) {
        const Record *r = record_set_at(&rows.set, (size_t)i);
        record_key_of_config(&rows.configs[i], key);
        assert_string_equal(record_key(r), key);
        assert_int_equal(record_status(r), RECORD_OK);
        assert_int_equal(json_array_size(record_value(r, "step.samples_ms")), steps[i]);
        assert_int_equal(json_array_size(record_value(r, "backward.samples_ms")), steps[i]);
        assert_true(number(r, "peak_alloc_mib") > 0 && number(r, "tokens_per_s") > 0);
        /* Only the first had a cold step, only the last gave its memory back. */
        assert_true(isnan(number(r, "cold_step_ms")) == (i > 0));
        assert_true(isnan(number(r, "device_peak_mib")) == (i < N - 1));
    }
    /* One model that goes on learning. */
    assert_true(number(record_set_at(&rows.set, 2), "loss") <
                number(record_set_at(&rows.set, 0), "loss"));
    record_set_free(&rows.set);
}

static void what_does_not_fit_says_so_of_each(void **state)
{
    Rows rows = {.configs = {small_config(2, 4), small_config(3, 7), small_config(1, 5)}};
    (void)state;
    for (int i = 0; i < N; i++) rows.configs[i].memory_limit = 1 << 20;
    assert_int_equal(run(&rows), N);
    for (int i = 0; i < N; i++)
        assert_int_equal(record_status(record_set_at(&rows.set, (size_t)i)), RECORD_OOM);
    record_set_free(&rows.set);
}

/* The clock ends the process: those that were through keep what they have. */
static void a_cut_keeps_those_before_it(void **state)
{
    Rows rows = {.configs = {small_config(1, 3), small_config(1, 1000000), small_config(1, 5)}};
    (void)state;
    rows.configs[0].timeout = 1.5;
    assert_int_equal(run(&rows), 2);
    assert_int_equal(record_status(record_set_at(&rows.set, 0)), RECORD_OK);
    assert_int_equal(record_status(record_set_at(&rows.set, 1)), RECORD_TIMEOUT);
    record_set_free(&rows.set);
}

static void who_may_share(void **state)
{
    const Config a = small_config(2, 4), b = small_config(5, 9), cold = small_config(0, 4);
    Config other = a;
    (void)state;
    assert_true(cell_shares(&a, &b));
    assert_false(cell_shares(&a, &cold));
    assert_false(cell_shares(&cold, &b));
    other.seed++;
    assert_false(cell_shares(&a, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own_samples),
        cmocka_unit_test(what_does_not_fit_says_so_of_each),
        cmocka_unit_test(a_cut_keeps_those_before_it),
        cmocka_unit_test(who_may_share),
    };
    return cmocka_run_group_tests(tests, own_cache_make, own_cache_drop);
}
