/* Sweeps of a fake cell of ours in turn with a fake Python (bench/fake_python), whose behaviour the
 * seed chooses. */
#include "bench/cell/runner.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_path[] = "/tmp/roofstep_peer_XXXXXX";

static int set_up(void **state)
{
    (void)state;
    const int fd = mkstemp(log_path);
    if (fd < 0) return -1;
    close(fd);
    setenv("PYTHON", "bench/fake_python", 1);
    setenv("PEER_LOG", log_path, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(log_path);
}

static void forget_log(void)
{
    assert_int_equal(truncate(log_path, 0), 0);
}

static void expect_log(const char *expected)
{
    char text[1024];
    FILE *f = fopen(log_path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, expected);
}

/* 20 ms a step; fails when the batch is 7. */
static Status our_cell(const Config *config, CellLink *link)
{
    FILE *f = fopen(log_path, "a");
    if (!f || fputs("ours\n", f) < 0 || fclose(f) != 0) return FAIL(ST_IO, "no log");
    if (config->batch == 7) return FAIL(ST_NO_MEMORY, "needs much");
    Record *r = json_object();
    record_put_number(r, "flops_per_step", 3e9);
    record_put_number(r, "limit_tflops", 0.2);
    record_put_text(r, "measured_mode", "train");
    TRY(cell_link_facts(link, r));
    json_decref(r);
    for (int i = 0; i < 2; i++) {
        Sample sample = sample_empty();
        sample.seconds[SAMPLE_STEP] = 0.02;
        TRY(cell_link_sample(link, &sample));
    }
    return cell_link_end(link, RECORD_OK, NULL);
}

static Config cell(int seed)
{
    Config config;
    config_defaults(&config);
    snprintf(config.device, sizeof config.device, "cpu");
    config.seed = seed;
    config.warmup = 1;
    config.steps = 2;
    config.timeout = 20;
    return config;
}

static RunnerOutcome run(const Config *config, const char *variants, const RecordSet *resumed,
                         RecordSet *rows)
{
    const RunnerTask task = {.configs = config,
                             .n = 1,
                             .cell = our_cell,
                             .resumed = resumed,
                             .peer = {"torch", variants, 3}};
    RunnerOutcome outcome;
    forget_log();
    assert_int_equal(record_set_init(rows, NULL), ST_OK);
    assert_int_equal(runner_run(&task, rows, &outcome), ST_OK);
    return outcome;
}

static double number(const RecordSet *rows, size_t i, const char *path)
{
    double x = -1;
    if (!record_number(record_set_at(rows, i), path, &x)) fail_msg("row %zu: no %s", i, path);
    return x;
}

static void near(double x, double y)
{
    if (!(x > y * (1 - 1e-9) && x < y * (1 + 1e-9))) fail_msg("%.17g is not %.17g", x, y);
}

static void in_turn_with_a_ratio(void **state)
{
    (void)state;
    const Config config = cell(0);
    RecordSet rows;
    const RunnerOutcome outcome = run(&config, "eager,best", NULL, &rows);
    expect_log("ours\ntheirs eager\ntheirs best\nours\ntheirs eager\ntheirs best\n"
               "ours\ntheirs eager\ntheirs best\n");
    assert_int_equal(outcome.bad, 0);
    assert_int_equal(record_set_size(&rows), 3);
    for (size_t i = 0; i < 3; i++) {
        const Record *r = record_set_at(&rows, i);
        assert_int_equal(record_status(r), RECORD_OK);
        assert_int_equal(json_array_size(record_value(r, "step.samples_ms")), 6);
    }
    const Record *ours = record_set_at(&rows, 0), *best = record_set_at(&rows, 2);
    near(number(&rows, 0, "peer_ratio"), 1.5); /* best: 30 ms of theirs for 20 of ours */
    assert_string_equal(record_text(ours, "peer_best"), "best");
    assert_null(record_text(ours, "peer"));
    assert_string_equal(record_text(best, "peer"), "torch");
    assert_string_equal(record_text(best, "variant"), "best");
    assert_string_equal(record_text(best, "exec"), "fused");
    near(number(&rows, 2, "tflops"), 0.1);
    near(number(&rows, 2, "mfu"), 0.5);
    near(number(&rows, 2, "tokens_per_s"), 4 * 128 / 0.030);
    record_set_free(&rows);
}

/* The library that the first round chose is that of the others; what others took is warned of as
 * for our rows. */
static void keeps_its_blas(void **state)
{
    (void)state;
    const Config config = cell(0);
    RecordSet rows;
    setenv("PEER_BLAS", "/x/libblas.so.3", 1);
    run(&config, "best", NULL, &rows);
    unsetenv("PEER_BLAS");
    expect_log("ours\ntheirs best\nours\ntheirs best with /x/libblas.so.3\n"
               "ours\ntheirs best with /x/libblas.so.3\n");
    const Record *theirs = record_set_at(&rows, 1);
    assert_string_equal(record_text(theirs, "blas"), "Fake 1");
    near(number(&rows, 1, "others_percent"), 12.5);
    assert_int_equal(json_array_size(record_value(theirs, "warnings")), 1);
    assert_non_null(strstr(json_string_value(json_array_get(record_value(theirs, "warnings"), 0)),
                           "12 % of the CPU time went to other programs"));
    for (size_t i = 0; i < 2; i++) near(number(&rows, i, "rounds"), 3);
    record_set_free(&rows);
}

static void resumed_whole_or_not_at_all(void **state)
{
    (void)state;
    const Config config = cell(0);
    RecordSet old, rows;
    run(&config, "best", NULL, &old);
    RunnerOutcome outcome = run(&config, "best", &old, &rows);
    assert_int_equal(outcome.kept, 1);
    assert_int_equal(record_set_size(&rows), 2);
    expect_log("");
    record_set_free(&rows);

    outcome = run(&config, "best,eager", &old, &rows);
    assert_int_equal(outcome.kept, 0);
    assert_int_equal(record_set_size(&rows), 3);
    record_set_free(&rows);
    record_set_free(&old);
}

/* Whatever becomes of the peer, ours is measured, and the sweep's exit code is about ours. */
static void a_peer_may_fail(void **state)
{
    (void)state;
    static const struct {
        int seed;
        RecordStatus status;
        const char *message;
    } cases[] = {
        {1, RECORD_OOM, "fake memory"},     {2, RECORD_FAILED, "exit code 3; last line: Traceback"},
        {3, RECORD_TIMEOUT, "not done"},    {4, RECORD_FAILED, "cannot read its messages"},
        {5, RECORD_UNSUPPORTED, "too new"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Config config = cell(cases[i].seed);
        if (cases[i].status == RECORD_TIMEOUT) config.timeout = 1.5;
        RecordSet rows;
        const RunnerOutcome outcome = run(&config, "best", NULL, &rows);
        expect_log("ours\ntheirs best\nours\nours\n");
        assert_int_equal(outcome.bad, 0);
        assert_int_equal(record_status(record_set_at(&rows, 0)), RECORD_OK);
        assert_null(record_value(record_set_at(&rows, 0), "peer_ratio"));
        const Record *theirs = record_set_at(&rows, 1);
        assert_int_equal(record_status(theirs), cases[i].status);
        const char *message = record_text(theirs, "message");
        if (!message || !strstr(message, cases[i].message)) fail_msg("%s", message);
        record_set_free(&rows);
    }
}

static void the_others_count(void **state)
{
    (void)state;
    const Config config = cell(5);
    RecordSet rows;
    run(&config, "best,eager", NULL, &rows);
    near(number(&rows, 0, "peer_ratio"), 2.5);
    assert_string_equal(record_text(record_set_at(&rows, 0), "peer_best"), "eager");
    record_set_free(&rows);
}

static void ours_may_fail(void **state)
{
    (void)state;
    Config config = cell(0);
    config.batch = 7;
    RecordSet rows;
    const RunnerOutcome outcome = run(&config, "best", NULL, &rows);
    assert_int_equal(outcome.bad, 1);
    assert_int_equal(record_status(record_set_at(&rows, 0)), RECORD_OOM);
    assert_null(record_value(record_set_at(&rows, 0), "peer_ratio"));
    assert_int_equal(record_status(record_set_at(&rows, 1)), RECORD_OK);
    record_set_free(&rows);
}

static void without_pytorch(void **state)
{
    (void)state;
    const Config config = cell(0);
    RecordSet rows;
    setenv("PEER_ABSENT", "1", 1);
    const RunnerOutcome outcome = run(&config, "best", NULL, &rows);
    unsetenv("PEER_ABSENT");
    assert_int_equal(outcome.bad, 0);
    const Record *theirs = record_set_at(&rows, 1);
    assert_int_equal(record_status(theirs), RECORD_UNSUPPORTED);
    assert_non_null(strstr(record_text(theirs, "message"), "no PyTorch"));
    record_set_free(&rows);
}

static void lists(void **state)
{
    (void)state;
    Config config = cell(0);
    Peer peers[PEER_MAX];
    int n = -1;
    assert_int_equal(peer_list(&(PeerChoice){0}, &config, peers, &n), ST_OK);
    assert_int_equal(n, 0);
    assert_int_equal(peer_list(&(PeerChoice){.name = "torch"}, &config, peers, &n), ST_OK);
    assert_int_equal(n, 1);
    assert_string_equal(peers[0].variant, "eager");
    snprintf(config.device, sizeof config.device, "cuda:1");
    assert_int_equal(peer_list(&(PeerChoice){.name = "torch"}, &config, peers, &n), ST_OK);
    assert_int_equal(n, 2);
    assert_string_equal(peers[1].variant, "graphs");
    const PeerChoice twice = {.name = "torch",
                              .variants = "graphs,eager,Graphs,best,compile,eager"};
    assert_int_equal(peer_list(&twice, &config, peers, &n), ST_OK);
    assert_int_equal(n, 4);
    static const char *const bad[] = {"", "eager,", ",", "fast", "best graphs", "eager,,best"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const PeerChoice choice = {.name = "torch", .variants = bad[i]};
        assert_int_equal(peer_list(&choice, &config, peers, &n), ST_USAGE);
    }
    assert_int_equal(peer_list(&(PeerChoice){.name = "jax"}, &config, peers, &n), ST_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_turn_with_a_ratio),
        cmocka_unit_test(keeps_its_blas),
        cmocka_unit_test(resumed_whole_or_not_at_all),
        cmocka_unit_test(a_peer_may_fail),
        cmocka_unit_test(the_others_count),
        cmocka_unit_test(ours_may_fail),
        cmocka_unit_test(without_pytorch),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
