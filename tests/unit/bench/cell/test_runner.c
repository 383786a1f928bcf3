/* Sweeps of fake cells: what each does is chosen by its seed. */
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

static Sample times(double forward, double backward, double optimizer, double step)
{
    Sample sample = sample_empty();
    sample.seconds[SAMPLE_FORWARD] = forward;
    sample.seconds[SAMPLE_BACKWARD] = backward;
    sample.seconds[SAMPLE_OPTIMIZER] = optimizer;
    sample.seconds[SAMPLE_STEP] = step;
    return sample;
}

static Status send_samples(CellLink *link, int n)
{
    for (int i = 0; i < n; i++) {
        TRY(cell_link_stage(link, "step", i + 1, n));
        const Sample sample = times(0.010 + i * 0.001, 0.020, 0.005, 0.035 + i * 0.001);
        TRY(cell_link_sample(link, &sample));
    }
    return ST_OK;
}

static Status facts(CellLink *link)
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

static Status says(CellLink *link, const char *text)
{
    return write(link->fd, text, strlen(text)) > 0 ? ST_OK : ST_FAILED;
}

static Status forward_only(CellLink *link)
{
    Record *r = json_object();
    record_put_phase(r, "backward", RECORD_OOM, "needs much");
    TRY(cell_link_facts(link, r));
    json_decref(r);
    const Sample sample = times(0.010, (double)NAN, (double)NAN, 0.010);
    for (int i = 0; i < 3; i++) TRY(cell_link_sample(link, &sample));
    return cell_link_end(link, RECORD_OOM, "needs much");
}

static Status die(int how)
{
    signal(how, SIG_DFL);
    raise(how);
    return ST_OK;
}

static Status fine(CellLink *link)
{
    TRY(facts(link));
    TRY(send_samples(link, 3));
    return cell_link_end(link, RECORD_OK, NULL);
}

/* Slow steps are told of one by one: those before the hang are not lost. */
static Status hangs_after_samples(CellLink *link)
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

static Status chatty(CellLink *link)
{
    for (int i = 0; i < 1000; i++) fprintf(stderr, "line %d\n", i);
    TRY(cell_link_warning(link, "not UTF-8: \xff"));
    return fine(link);
}

static Status fake_cell(const Config *config, CellLink *link)
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

static Config cell(enum Behaviour what)
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

static Status keep(void *self, Record *record)
{
    Kept *kept = self;
    (void)record;
    kept->n++;
    if (kept->n == kept->interrupt_at) raise(SIGINT);
    if (kept->n == kept->fail_at) return FAIL(ST_IO, "the disk is full");
    return ST_OK;
}

static RunnerOutcome run(const Config *configs, int n, const RecordSet *resumed, Kept *kept,
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
static Record *run_one(enum Behaviour what, double timeout, RecordSet *rows)
{
    Config config = cell(what);
    config.timeout = timeout;
    Kept kept = {0};
    run(&config, 1, NULL, &kept, rows);
    assert_int_equal(record_set_size(rows), 1);
    assert_int_equal(kept.n, 1);
    return record_set_at(rows, 0);
}

static double number(const Record *r, const char *path)
{
    double x = -1;
    if (!record_number(r, path, &x)) fail_msg("no number %s", path);
    return x;
}

static void near(double x, double y)
{
    if (!(x > y * (1 - 1e-9) && x < y * (1 + 1e-9))) fail_msg("%.17g is not %.17g", x, y);
}

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
        {GARBAGE, RECORD_FAILED, "cannot be read"},
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

/* Whatever one cell does, the next one runs. */
static void test_sweep_goes_on(void **state)
{
    (void)state;
    static const enum Behaviour order[] = {CRASHES, FINE, KILLED, NOT_HERE, TOO_BIG, FINE};
    Config configs[6];
    for (int i = 0; i < 6; i++) {
        configs[i] = cell(order[i]);
        configs[i].ctx = 64 + i;
    }
    Kept kept = {0};
    RecordSet rows;
    const RunnerOutcome outcome = run(configs, 6, NULL, &kept, &rows);
    assert_int_equal(record_set_size(&rows), 6);
    assert_int_equal(kept.n, 6);
    assert_int_equal(outcome.bad, 3);
    for (size_t i = 0; i < 6; i++) near(number(record_set_at(&rows, i), "ctx"), 64.0 + (double)i);
    record_set_free(&rows);
}

/* Cells that leave their turn behind: "ctx steps" on a line of a file, one sample per step. */
enum { CELLS = 6, ROUNDS = 3 };
static const char turns_file[] = "interleaved.txt";

/* Other programs take most in the first round, other virtual machines in the second. */
static Status tell_guests(CellLink *link, int round)
{
    Record *r = json_object();
    record_put_number(r, "others_percent", 30 - 10 * round);
    record_put_number(r, "stolen_percent", round == 1 ? 7 : 2);
    const Status status = cell_link_facts(link, r);
    json_decref(r);
    return status;
}

static Status traced_cell(const Config *config, CellLink *link)
{
    FILE *file = fopen(turns_file, "a+");
    int turns = 0;
    for (int c; (c = fgetc(file)) != EOF;) turns += c == '\n';
    fprintf(file, "%lld %lld\n", (long long)config->ctx, (long long)config->steps);
    fclose(file);
    TRY(facts(link));
    TRY(tell_guests(link, turns / CELLS));
    TRY(send_samples(link, (int)config->steps));
    return cell_link_end(link, RECORD_OK, NULL);
}

static void test_interleaved(void **state)
{
    (void)state;
    Config configs[CELLS];
    for (int i = 0; i < CELLS; i++) {
        configs[i] = cell(FINE);
        configs[i].ctx = i + 1;
        configs[i].steps = 7;
    }
    const RunnerTask task = {.configs = configs, .n = CELLS, .cell = traced_cell, .rounds = ROUNDS};
    RunnerOutcome outcome;
    RecordSet rows;
    remove(turns_file);
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    assert_int_equal(runner_run(&task, &rows, &outcome), ST_OK);
    FILE *file = fopen(turns_file, "r");
    int order[ROUNDS][CELLS], steps[CELLS + 1] = {0}, same = 0;
    for (int r = 0; r < ROUNDS; r++) {
        int seen[CELLS + 1] = {0};
        for (int i = 0; i < CELLS; i++) {
            int n = 0;
            assert_int_equal(fscanf(file, "%d %d", &order[r][i], &n), 2);
            assert_int_equal(seen[order[r][i]]++, 0); /* each once in every round */
            steps[order[r][i]] += n;
            same += order[r][i] == i + 1;
        }
    }
    fclose(file);
    remove(turns_file);
    assert_true(same < ROUNDS * CELLS);
    assert_true(memcmp(order[0], order[1], sizeof order[0]) != 0);
    for (int i = 0; i < CELLS; i++) {
        const Record *r = record_set_at(&rows, (size_t)i);
        assert_int_equal(steps[i + 1], 7);
        near(number(r, "ctx"), i + 1); /* rows in the order of the sweep */
        near(number(r, "samples"), 7);
        near(number(r, "rounds"), ROUNDS);
        near(number(r, "steps"), 7);
        near(number(r, "others_percent"), 30); /* of the round with the most */
        near(number(r, "stolen_percent"), 7);
    }
    record_set_free(&rows);
}

static void test_resume(void **state)
{
    (void)state;
    Config configs[4];
    static const enum Behaviour first[] = {FINE, FORWARD_ONLY, NOT_HERE, BROKEN};
    for (int i = 0; i < 4; i++) configs[i] = cell(first[i]);
    Kept kept = {0};
    RecordSet old, rows;
    run(configs, 4, NULL, &kept, &old);

    /* Backwards, with a new cell in the middle. */
    const Config again[] = {configs[3], configs[2], cell(CHATTY), configs[1], configs[0]};
    kept = (Kept){0};
    const RunnerOutcome outcome = run(again, 5, &old, &kept, &rows);
    assert_int_equal(outcome.kept, 3);
    assert_int_equal(kept.n, 2); /* the broken one and the new one */
    assert_int_equal(outcome.bad, 2);
    static const RecordStatus expected[] = {RECORD_FAILED, RECORD_UNSUPPORTED, RECORD_OK,
                                            RECORD_OOM, RECORD_OK};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(record_status(record_set_at(&rows, i)), expected[i]);
        char key[RECORD_KEY_SIZE];
        record_key_of_config(&again[i], key);
        assert_string_equal(record_key(record_set_at(&rows, i)), key);
    }
    record_set_free(&old);
    record_set_free(&rows);
}

/* What the plan foretold is kept; memory that ran out meanwhile may be there the next time. */
static void test_resume_after_oom(void **state)
{
    (void)state;
    const Config configs[] = {cell(FORWARD_ONLY), cell(TOO_BIG), cell(KILLED), cell(FINE)};
    static const bool keeps[] = {true, false, false, true};
    Kept kept = {0};
    RecordSet old, rows;
    run(configs, 4, NULL, &kept, &old);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cell_record_is_final(record_set_at(&old, i)), keeps[i]);
    kept = (Kept){0};
    assert_int_equal(run(configs, 4, &old, &kept, &rows).kept, 2);
    assert_int_equal(kept.n, 2);
    record_set_free(&old);
    record_set_free(&rows);
}

static void test_full_disk_stops(void **state)
{
    (void)state;
    const Config configs[] = {cell(FINE), cell(CHATTY), cell(FORWARD_ONLY)};
    Kept kept = {.fail_at = 2};
    RecordSet rows;
    run(configs, 3, NULL, &kept, &rows);
    assert_int_equal(kept.n, 2);
    assert_int_equal(record_set_size(&rows), 2); /* the row that could not be written is not lost */
    record_set_free(&rows);
}

static void test_interrupt(void **state)
{
    (void)state;
    const Config configs[] = {cell(FINE), cell(CHATTY), cell(FORWARD_ONLY)};
    Kept kept = {.interrupt_at = 2};
    RecordSet rows;
    const RunnerOutcome outcome = run(configs, 3, NULL, &kept, &rows);
    assert_int_equal(outcome.signal, SIGINT);
    assert_int_equal(record_set_size(&rows), 2);
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fine),         cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_forward_only), cmocka_unit_test(test_timeout_keeps_samples),
        cmocka_unit_test(test_chatty),       cmocka_unit_test(test_sweep_goes_on),
        cmocka_unit_test(test_resume),       cmocka_unit_test(test_resume_after_oom),
        cmocka_unit_test(test_interleaved),  cmocka_unit_test(test_full_disk_stops),
        cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
