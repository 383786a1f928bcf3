/* Sweeps of fake cells: what each does is chosen by its seed. */
#pragma once

#include "bench/cell/runner.h"
#include "bench/measure/interrupt.h"
#include "with_cmocka.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum Behaviour {
    FINE,
    FORWARD_ONLY, /* the rest does not fit */
    TOO_BIG,
    NOT_HERE,
    BROKEN,
    CRASHES,
    EXITS,
    HANGS_AFTER_SAMPLES,
    KILLED,
    GARBAGE,
    WRONG_TYPE,
    SAYS_NOTHING,
    NO_SAMPLES,
    CHATTY,
    N_BEHAVIOURS
};

static inline Sample times(double forward, double backward, double optimizer, double step)
{
    Sample sample = sample_empty();
    sample.seconds[SAMPLE_FORWARD] = forward;
    sample.seconds[SAMPLE_BACKWARD] = backward;
    sample.seconds[SAMPLE_OPTIMIZER] = optimizer;
    sample.seconds[SAMPLE_STEP] = step;
    return sample;
}

static inline Status send_samples(CellLink *link, int n)
{
    for (int i = 0; i < n; i++) {
        TRY(cell_link_stage(link, "step", i + 1, n));
        const Sample sample = times(0.010 + i * 0.001, 0.020, 0.005, 0.035 + i * 0.001);
        TRY(cell_link_sample(link, &sample));
    }
    return ST_OK;
}

static inline Status facts(CellLink *link)
{
    Record *r = json_object();
    record_put_number(r, "flops_per_step", 3.6e9);
    record_put_number(r, "limit_tflops", 0.2);
    record_put_number(r, "limit_step_ms", 18);
    record_put_text(r, "measured_mode", "train");
    const Status status = cell_link_facts(link, r);
    json_decref(r);
    return status;
}

static inline Status says(CellLink *link, const char *text)
{
    return write(link->fd, text, strlen(text)) > 0 ? ST_OK : ST_FAILED;
}

static inline Status forward_only(CellLink *link)
{
    Record *r = json_object();
    record_put_phase(r, "backward", RECORD_OOM, "needs much");
    TRY(cell_link_facts(link, r));
    json_decref(r);
    const Sample sample = times(0.010, (double)NAN, (double)NAN, 0.010);
    for (int i = 0; i < 3; i++) TRY(cell_link_sample(link, &sample));
    return cell_link_end(link, RECORD_OOM, "needs much");
}

static inline Status die(int how)
{
    signal(how, SIG_DFL);
    raise(how);
    return ST_OK;
}

static inline Status fine(CellLink *link)
{
    TRY(facts(link));
    TRY(send_samples(link, 3));
    return cell_link_end(link, RECORD_OK, NULL);
}

/* Slow steps are told of one by one: those before the hang are not lost. */
static inline Status hangs_after_samples(CellLink *link)
{
    TRY(facts(link));
    for (int i = 0; i < 2; i++) {
        TRY(cell_link_stage(link, "step", i + 1, 3));
        usleep(120000);
        const Sample sample = times(0.120, (double)NAN, (double)NAN, 0.120);
        TRY(cell_link_sample(link, &sample));
    }
    TRY(cell_link_stage(link, "step", 3, 3));
    pause();
    return ST_OK;
}

static inline Status chatty(CellLink *link)
{
    for (int i = 0; i < 1000; i++) fprintf(stderr, "line %d\n", i);
    TRY(cell_link_warning(link, "not UTF-8: \xff"));
    return fine(link);
}

static inline Status fake_cell(const Config *config, CellLink *link)
{
    switch ((enum Behaviour)config->seed) {
    case FINE:
        return fine(link);
    case FORWARD_ONLY:
        return forward_only(link);
    case TOO_BIG:
        return FAIL(ST_NO_MEMORY, "needs 12 GiB");
    case NOT_HERE:
        return FAIL(ST_UNSUPPORTED, "no such thing here");
    case BROKEN:
        return FAIL(ST_DEVICE, "the device is unwell");
    case CRASHES:
        return die(SIGSEGV);
    case EXITS:
        fprintf(stderr, "cannot go on\n");
        _exit(9);
    case HANGS_AFTER_SAMPLES:
        return hangs_after_samples(link);
    case KILLED:
        return die(SIGKILL);
    case GARBAGE:
        TRY(says(link, "{\"sample\": [1]}\n\x01\xff what?\n"));
        return fine(link);
    case WRONG_TYPE:
        TRY(says(link, "{\"facts\": {\"parameters\": \"many\"}}\n"));
        return fine(link);
    case SAYS_NOTHING:
        return ST_OK;
    case NO_SAMPLES:
        return cell_link_end(link, RECORD_OK, NULL);
    case CHATTY:
        return chatty(link);
    default:
        return FAIL(ST_FAILED, "no such behaviour");
    }
}

static inline Config cell(enum Behaviour what)
{
    Config config;
    config_defaults(&config);
    config.seed = what;
    config.warmup = 1;
    config.steps = 3;
    config.timeout = 20;
    return config;
}

typedef struct Kept {
    int n;
    int fail_at; /* 0: never */
    int interrupt_at;
} Kept;

static inline Status keep(void *self, Record *record)
{
    Kept *kept = self;
    (void)record;
    kept->n++;
    if (kept->n == kept->interrupt_at) raise(SIGINT);
    if (kept->n == kept->fail_at) return FAIL(ST_IO, "the disk is full");
    return ST_OK;
}

static inline RunnerOutcome run(const Config *configs, int n, const RecordSet *resumed, Kept *kept,
                                RecordSet *rows)
{
    const RunnerTask task = {.configs = configs,
                             .n = n,
                             .cell = fake_cell,
                             .resumed = resumed,
                             .self = kept,
                             .finished = keep};
    RunnerOutcome outcome;
    const Status expected = kept->fail_at ? ST_IO : ST_OK;
    assert_int_equal(record_set_init(rows, NULL), ST_OK);
    assert_int_equal(runner_run(&task, rows, &outcome), expected);
    return outcome;
}

/* The record of one cell alone. */
static inline Record *run_one(enum Behaviour what, double timeout, RecordSet *rows)
{
    Config config = cell(what);
    config.timeout = timeout;
    Kept kept = {0};
    run(&config, 1, NULL, &kept, rows);
    assert_int_equal(record_set_size(rows), 1);
    assert_int_equal(kept.n, 1);
    return record_set_at(rows, 0);
}

static inline double number(const Record *r, const char *path)
{
    double x = -1;
    if (!record_number(r, path, &x)) fail_msg("no number %s", path);
    return x;
}

static inline void near(double x, double y)
{
    if (!(x > y * (1 - 1e-9) && x < y * (1 + 1e-9))) fail_msg("%.17g is not %.17g", x, y);
}
