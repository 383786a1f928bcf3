#include "bench/cell/progress.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Screen {
    Progress p;
    char *text;
    size_t n;
} Screen;

static void open_screen(Screen *s, bool live)
{
    *s = (Screen){.p = {.live = live, .columns = 80, .n = 3, .total = 30}};
    s->p.out = open_memstream(&s->text, &s->n);
    assert_non_null(s->p.out);
}

static void close_screen(Screen *s)
{
    fclose(s->p.out);
    free(s->text);
}

static Config config(void)
{
    Config c;
    config_defaults(&c);
    c.warmup = 2;
    c.steps = 8;
    return c;
}

static void say(CellRecord *cell, const char *line)
{
    cell_record_take(cell, line, strlen(line));
}

static void assert_near(double x, double y)
{
    if (!(fabs(x - y) < 1e-6)) fail_msg("%.9g is not %.9g", x, y);
}

static void test_eta(void **state)
{
    (void)state;
    Progress p = {.total = 100, .weight = 40, .started = 1000};
    assert_true(isnan(progress_eta(&p, 0, 1005))); /* nothing to go by */
    /* A quarter of 40 took 5 s: 90 are left at half a second each. */
    assert_near(progress_eta(&p, 0.25, 1005), 45);
    /* 30 took 35 s, and these 40 will have taken 20: 30 more at 55 / 70 each. */
    p.finished = 30;
    p.finished_for = 35;
    assert_near(progress_eta(&p, 0.25, 1005), 15 + 55.0 / 70 * 30);
    /* Its start and its first step say nothing about the steps that follow. */
    p.first = 0.1;
    p.first_at = 1004;
    assert_near(progress_eta(&p, 0.3, 1006), 7 + 48.0 / 70 * 30);
    /* Nor does a step that is not over yet: its time is taken off. */
    p.last = 0.3;
    p.last_at = 1006;
    assert_near(progress_eta(&p, 0.3, 1007), 6 + 48.0 / 70 * 30);
    p.finished = 100;
    p.weight = 0;
    assert_near(progress_eta(&p, 0, 1005), 0);
}

/* Weights in seconds are something to go by from the first moment, and time that passes is taken off. */
static void test_eta_from_the_start(void **state)
{
    (void)state;
    Progress p = {.total = 100, .weight = 40, .started = 1000};
    progress_trust_weights(&p);
    assert_near(progress_eta(&p, 0, 1000), 100);
    assert_near(progress_eta(&p, 0, 1005), 95);
    double last = progress_eta(&p, 0, 1000);
    for (double now = 1000; now < 1200; now += 0.5) { /* it takes far longer than expected */
        const double eta = progress_eta(&p, 0, now);
        assert_true(eta >= 0 && eta < 10 * last && last < 10 * eta);
        last = eta;
    }
    p.trust = 0;
    assert_true(isnan(progress_eta(&p, 0, 1005)));
}

/* Of 100 steps three were taken when the time for samples was over: the cell was not at 3 %. */
static void test_eta_of_timed_samples(void **state)
{
    (void)state;
    Progress p = {.total = 100, .weight = 10, .started = 1000, .timed = true};
    p.finished = 50;
    p.finished_for = 50;
    assert_near(progress_eta(&p, 0.03, 1009), 41);
    assert_true(progress_eta(&p, 0.03, 1015) > 40); /* not over yet */
}

/* A cell that does not fit is over at once: those after it are not. */
static void test_eta_after_a_cell_that_ended_early(void **state)
{
    (void)state;
    const Config c = config();
    Progress p = {.total = 1000};
    progress_cell(&p, 1, "small", &c, 100);
    progress_done(&p, p.started + 100, false);
    assert_near(progress_eta(&p, 0, p.started), 900);
    progress_cell(&p, 2, "huge", &c, 800);
    progress_done(&p, p.started + 0.1, true);
    assert_near(progress_eta(&p, 0, p.started), 100);
    assert_near(p.total, 200);
}

static void test_moving_line(void **state)
{
    (void)state;
    Screen s;
    CellRecord cell;
    const Config c = config();
    open_screen(&s, true);
    assert_int_equal(cell_record_begin(&cell, &c, NULL), ST_OK);
    progress_cell(&s.p, 2, "small ctx 128", &c, 10);
    s.p.finished = 10;
    s.p.finished_for = 20;
    say(&cell, "{\"stage\": \"step\", \"done\": 3, \"of\": 8}");
    say(&cell, "{\"sample\": {\"forward\": 0.5, \"step\": 1.5}}");
    const double now = s.p.started + 1;
    progress_draw(&s.p, &cell, now);
    if (!strstr(s.text, "2/3 ETA 39s small ctx 128 | step 3/8 | 1.5")) fail_msg("%s", s.text);
    assert_non_null(strstr(s.text, "\033[32m######\033[90m##############\033[0m ")); /* a third */
    const char *line = strrchr(s.text, '\r') + 1;
    const size_t colours = strlen("\033[32m\033[90m\033[0m\033[K");
    assert_true(strlen(line) <= 80 + colours);

    s.p.columns = 30; /* a narrow terminal: cut, not wrapped */
    progress_draw(&s.p, &cell, now + 1);
    line = strrchr(s.text, '\r') + 1;
    assert_true(strlen(line) <= 30 + colours);

    const size_t drawn = s.n;
    progress_draw(&s.p, &cell, now + 1.01); /* not so often */
    fflush(s.p.out);
    assert_int_equal(s.n, drawn);
    progress_line(&s.p, "a word");
    assert_non_null(strstr(s.text, "\r\033[Ka word\n"));
    progress_line(&s.p, "what a library\033]0;printed\a\r\xc2\x9b");
    assert_non_null(strstr(s.text, "\nwhat a library\\x1b]0;printed\\x07 \\u009b\n"));
    s.p.finished = s.p.total = 0; /* no ETA */
    progress_cell(&s.p, 2, "\033[2Jé中é中é中", &c, 10);
    s.p.columns = 34; /* cut between two characters */
    progress_draw(&s.p, NULL, s.p.started + 1);
    fflush(s.p.out);
    if (!strstr(s.text, " 2/3 \\x1b[2Jé\033[K")) fail_msg("%s", s.text);
    cell_record_free(&cell);
    close_screen(&s);
}

static void test_plain_lines(void **state)
{
    (void)state;
    Screen s;
    CellRecord cell;
    const Config c = config();
    const ChildResult end = {.end = CHILD_RETURNED};
    open_screen(&s, false);
    assert_int_equal(cell_record_begin(&cell, &c, NULL), ST_OK);
    progress_cell(&s.p, 1, "small", &c, 10);
    say(&cell, "{\"sample\": {\"forward\": 0.25, \"step\": 0.25}}");
    progress_draw(&s.p, &cell, s.p.started + 1);
    fflush(s.p.out);
    assert_int_equal(s.n, 0);
    say(&cell, "{\"end\": \"oom\", \"message\": \"train needs more\"}");
    assert_int_equal(cell_record_finish(&cell, &end), ST_OK);
    progress_done(&s.p, s.p.started + 2, false);
    progress_finished(&s.p, 1, "small", cell.record, " (again)");
    assert_string_equal(s.text, "[1/3] small: oom: train needs more; step 250.0 ms: forward "
                                "250.0 ms (again)\n");
    assert_true(s.p.finished == 10 && fabs(s.p.finished_for - 2) < 1e-9);
    cell_record_free(&cell);
    close_screen(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eta),
        cmocka_unit_test(test_eta_from_the_start),
        cmocka_unit_test(test_eta_of_timed_samples),
        cmocka_unit_test(test_eta_after_a_cell_that_ended_early),
        cmocka_unit_test(test_moving_line),
        cmocka_unit_test(test_plain_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
