#include "bench/measure/sampler.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Writes down what happened, in order: f b o for the phases, . for a wait, C for the cold step's time,
 * S for a sample. */
typedef struct Log {
    char text[256];
    int n_samples;
    Sample last;
    double cold;
    int fail_after; /* runs; 0: never */
    int runs;
    Mode mode;
} Log;

static void note(Log *log, char c)
{
    const size_t n = strlen(log->text);
    if (n + 1 < sizeof log->text) log->text[n] = c;
}

static Status run(void *self, Phase phase)
{
    Log *log = self;
    if (++log->runs == log->fail_after) return FAIL(ST_DEVICE, "broke down");
    note(log, phase == PHASE_FORWARD ? 'f' : phase == PHASE_BACKWARD ? 'b' : 'o');
    nanosleep(&(struct timespec){0, phase == PHASE_BACKWARD ? 4000000 : 2000000}, NULL);
    return ST_OK;
}

static Status step(void *self)
{
    const Log *log = self;
    TRY(run(self, PHASE_FORWARD));
    if (log->mode >= MODE_FWD_BWD) TRY(run(self, PHASE_BACKWARD));
    return log->mode == MODE_TRAIN ? run(self, PHASE_OPTIMIZER) : ST_OK;
}

/* The device is the log; its clock: always two seconds. */
static Status mark(Backend *self, int slot)
{
    (void)self;
    assert_true(slot == 0 || slot == 1);
    return ST_OK;
}

static Status elapsed(Backend *self, int from, int to, double *seconds)
{
    (void)self;
    assert_true(from == 0 && to == 1);
    *seconds = 2;
    return ST_OK;
}

static Status sync_device(Backend *self)
{
    note((Log *)(void *)self, '.');
    return ST_OK;
}

static Status stage(void *self, const char *what, int64_t done, int64_t of)
{
    (void)self;
    assert_true(what[0] && done >= 1 && done <= of);
    return ST_OK;
}

static Status cold(void *self, double seconds)
{
    Log *log = self;
    note(log, 'C');
    log->cold = seconds;
    return ST_OK;
}

static Status sample(void *self, const Sample *s)
{
    Log *log = self;
    note(log, 'S');
    log->n_samples++;
    log->last = *s;
    return ST_OK;
}

static Status run_sampler(Log *log, bool queued, Mode mode, const Config *config)
{
    static const BackendApi cpu = {.sync = sync_device};
    static const BackendApi gpu = {.sync = sync_device, .mark = mark, .elapsed = elapsed};
    log->mode = mode;
    const Sampler sampler = {.self = log,
                             .api = queued ? &gpu : &cpu,
                             .backend = (Backend *)(void *)log,
                             .run = run,
                             .step = step,
                             .stage = stage,
                             .cold = cold,
                             .sample = sample};
    return sampler_run(&sampler, mode, config);
}

static Status measure_for(Log *log, bool queued, Mode mode, int warmup, int steps, double seconds)
{
    const Config config = {.warmup = warmup, .steps = steps, .sample_time = seconds};
    return run_sampler(log, queued, mode, &config);
}

static Status measure(Log *log, bool queued, Mode mode, int warmup, int steps)
{
    return measure_for(log, queued, mode, warmup, steps, 0);
}

static void test_order_on_a_cpu(void **state)
{
    (void)state;
    Log log = {0};
    assert_int_equal(measure(&log, false, MODE_TRAIN, 2, 2), ST_OK);
    assert_string_equal(log.text, "fbo.Cfbo.fboSfboS");
    const double *s = log.last.seconds;
    assert_true(s[SAMPLE_FORWARD] >= 0.002 && s[SAMPLE_BACKWARD] >= 0.004);
    const double sum = s[SAMPLE_FORWARD] + s[SAMPLE_BACKWARD] + s[SAMPLE_OPTIMIZER];
    assert_true(fabs(sum - s[SAMPLE_STEP]) < 1e-9);
    assert_true(log.cold >= 0.008);
}

static void test_no_warmup_is_still_cold(void **state)
{
    (void)state;
    Log none = {0}, one = {0};
    assert_int_equal(measure(&none, false, MODE_FWD, 0, 1), ST_OK);
    assert_string_equal(none.text, "f.CfS");
    assert_int_equal(measure(&one, false, MODE_FWD, 1, 1), ST_OK);
    assert_string_equal(one.text, none.text);
}

/* For a study of warm-up nothing is kept apart: the first step is a sample, whole steps, or phases,
 * alone. */
static void test_from_the_first_step(void **state)
{
    (void)state;
    static const struct {
        int warmup;
        bool queued, by_phase;
        Mode mode;
        const char *order;
    } cases[] = {
        {0, false, false, MODE_FWD, "f.CSf.S"},    {0, true, false, MODE_FWD, "f.CSf.S"},
        {1, false, false, MODE_FWD, "f.Cf.Sf.S"},  {3, true, false, MODE_FWD, "f.Cf.f.f.Sf.S"},
        {0, false, true, MODE_FWD_BWD, "fbCSfbS"}, {0, true, true, MODE_FWD_BWD, "f.b.CSf.b.S"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Log log = {0};
        const Config config = {.warmup = cases[i].warmup,
                               .steps = 2,
                               .from_first = true,
                               .by_phase = cases[i].by_phase};
        assert_int_equal(run_sampler(&log, cases[i].queued, cases[i].mode, &config), ST_OK);
        assert_string_equal(log.text, cases[i].order);
        assert_true(log.last.seconds[SAMPLE_STEP] > 0);
        assert_true(isnan(log.last.seconds[SAMPLE_FORWARD]) == !cases[i].by_phase);
    }
}

static void test_modes(void **state)
{
    (void)state;
    Log log = {0};
    assert_int_equal(measure(&log, false, MODE_FWD_BWD, 1, 1), ST_OK);
    assert_string_equal(log.text, "fb.CfbS");
    assert_true(isnan(log.last.seconds[SAMPLE_OPTIMIZER]));
    log = (Log){0};
    assert_int_equal(measure(&log, false, MODE_FWD, 1, 1), ST_OK);
    assert_true(isnan(log.last.seconds[SAMPLE_BACKWARD]));
    assert_true(log.last.seconds[SAMPLE_STEP] > 0);
}

/* A device that only queues work: phases with a wait after each, whole steps in a loop of their own. */
static void test_order_on_a_queue(void **state)
{
    (void)state;
    Log log = {0};
    assert_int_equal(measure(&log, true, MODE_TRAIN, 1, 2), ST_OK);
    assert_string_equal(log.text, "fbo.Cf.b.o.Sf.b.o.Sfbo.Sfbo.S");
    assert_true(isnan(log.last.seconds[SAMPLE_FORWARD]) && log.last.seconds[SAMPLE_STEP] > 0);
    assert_true(log.last.seconds[SAMPLE_GPU_STEP] == 2);
}

/* A step takes at least 2 ms: no time at all leaves the first step and the fewest samples. */
/* Phases run for every micro-batch before the optimizer, and their times add up. */
static void test_micro_batches(void **state)
{
    (void)state;
    Log log = {0};
    Config config = {.warmup = 1, .steps = 1, .accumulate = 3};
    assert_int_equal(run_sampler(&log, false, MODE_TRAIN, &config), ST_OK);
    assert_string_equal(log.text, "fbo.CfbfbfboS");
    const double *s = log.last.seconds;
    assert_true(s[SAMPLE_FORWARD] >= 0.006 && s[SAMPLE_BACKWARD] >= 0.012);
    const double sum = s[SAMPLE_FORWARD] + s[SAMPLE_BACKWARD] + s[SAMPLE_OPTIMIZER];
    assert_true(fabs(sum - s[SAMPLE_STEP]) < 1e-9);
    log = (Log){0};
    config.from_first = config.by_phase = true;
    assert_int_equal(run_sampler(&log, true, MODE_TRAIN, &config), ST_OK);
    assert_string_equal(log.text, "fbo.Cf.b.f.b.f.b.o.S");
    assert_true(s[SAMPLE_WALL_COUNT + SAMPLE_BACKWARD] == 6);
    assert_true(s[SAMPLE_WALL_COUNT + SAMPLE_OPTIMIZER] == 2);
    log = (Log){0};
    assert_int_equal(run_sampler(&log, false, MODE_FWD, &config), ST_OK);
    assert_string_equal(log.text, "f.CfffS");
}

static void test_no_time_leaves_the_least(void **state)
{
    (void)state;
    Log cpu = {0}, gpu = {0}, few = {0};
    assert_int_equal(measure_for(&cpu, false, MODE_FWD, 10, 100, 1e-4), ST_OK);
    assert_string_equal(cpu.text, "f.CfSfSfS");
    assert_int_equal(measure_for(&gpu, true, MODE_FWD, 10, 100, 1e-4), ST_OK);
    assert_string_equal(gpu.text, "f.Cf.Sf.Sf.Sf.Sf.Sf.S");
    assert_int_equal(measure_for(&few, false, MODE_FWD, 10, 2, 1e-4), ST_OK);
    assert_string_equal(few.text, "f.CfSfS");
}

static void test_time_ends_the_samples(void **state)
{
    (void)state;
    Log some = {0}, all = {0};
    assert_int_equal(measure_for(&some, false, MODE_FWD, 1, 1000, 0.05), ST_OK);
    assert_true(some.n_samples >= SAMPLER_MIN_SAMPLES && some.n_samples <= 25);
    assert_int_equal(measure_for(&all, false, MODE_FWD, 3, 5, 1e9), ST_OK);
    assert_string_equal(all.text, "f.Cf.f.fSfSfSfSfS");
}

/* Any interval is tight within a million times the figure, however busy the machine is; none within
 * 1e-7 %. */
static void test_until_the_interval_is_tight(void **state)
{
    (void)state;
    Log log = {0};
    Config config = {.warmup = 1, .steps = 5, .sample_time = 20, .until = 1e6, .stat = STAT_MEAN};
    assert_int_equal(run_sampler(&log, false, MODE_FWD, &config), ST_OK);
    assert_int_equal(log.n_samples, 5); /* not fewer than were asked for */
    log = (Log){0};
    config.stat = STAT_MEDIAN;
    assert_int_equal(run_sampler(&log, false, MODE_FWD, &config), ST_OK);
    assert_int_equal(log.n_samples, 6); /* fewer have no interval of their median */
    log = (Log){0};
    config = (Config){.warmup = 1, .steps = 5, .sample_time = 0.1, .until = 1e-9};
    assert_int_equal(run_sampler(&log, false, MODE_FWD, &config), ST_OK);
    assert_true(log.n_samples > 5 && log.n_samples <= 50); /* the time ended it */
}

static void test_failure_passes_up(void **state)
{
    (void)state;
    Log log = {.fail_after = 8};
    assert_int_equal(measure(&log, false, MODE_TRAIN, 1, 5), ST_DEVICE);
    assert_int_equal(log.n_samples, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_on_a_cpu),
        cmocka_unit_test(test_no_warmup_is_still_cold),
        cmocka_unit_test(test_from_the_first_step),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_order_on_a_queue),
        cmocka_unit_test(test_micro_batches),
        cmocka_unit_test(test_no_time_leaves_the_least),
        cmocka_unit_test(test_time_ends_the_samples),
        cmocka_unit_test(test_until_the_interval_is_tight),
        cmocka_unit_test(test_failure_passes_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
