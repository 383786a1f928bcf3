/* Real cells, each in its child as bench runs them, and what their rows say. */
#pragma once

#include "bench/cell/cell.h"
#include "bench/cell/runner.h"
#include "bench/estimate/fit.h"
#include "bench/limits/limits_cache.h"
#include "bench/measure/rss.h"
#include "own_cache.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record of one cell; the caller frees `rows`. */
static inline Record *run(const Config *config, RecordSet *rows)
{
    const RunnerTask task = {.configs = config, .n = 1, .cell = cell_run};
    RunnerOutcome outcome;
    assert_int_equal(record_set_init(rows, NULL), ST_OK);
    assert_int_equal(runner_run(&task, rows, &outcome), ST_OK);
    assert_int_equal(record_set_size(rows), 1);
    return record_set_at(rows, 0);
}

static inline double number(const Record *r, const char *path)
{
    double x = NAN;
    if (!record_number(r, path, &x)) fail_msg("no number %s", path);
    return x;
}

static inline int samples(const Record *r, const char *path)
{
    return (int)json_array_size(record_value(r, path));
}

static inline size_t need(const Config *config, Mode mode)
{
    Config c = *config;
    Placement place;
    Rss held;
    Fit fit;
    c.mode = mode;
    assert_int_equal(placement_of(&c, &place), ST_OK);
    assert_int_equal(rss_read(&held), ST_OK);
    assert_int_equal(fit_make(&fit, &c, &place, held.now, (size_t)1 << 50), ST_OK);
    const size_t bytes = fit.need[mode];
    fit_free(&fit);
    return bytes;
}

static inline Limits some_limits(double flops, double bytes)
{
    Limits limits = {.steal = 0, .seconds = 1, .time_utc = "2024-05-01T12:34:56Z"};
    assert_int_equal(limits_key(2, &limits.key), ST_OK);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const double rate = limits_names[i].kind == LIMITS_MATMUL ? flops : bytes;
        for (int scope = 0; scope < LIMITS_SCOPES; scope++) {
            limits.rate[i][scope] = (LimitsRate){rate, rate, rate, 5};
        }
    }
    return limits;
}
