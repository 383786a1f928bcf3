#include "bench/measure/child.h"
#include "bench/measure/interrupt.h"
#include "with_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Heard {
    int messages, printed, ticks;
    size_t longest;
    char first[64], last[64], last_printed[64];
    int raise_at_tick; /* 0: never */
} Heard;

static void on_message(void *self, const char *line, size_t length)
{
    Heard *h = self;
    if (h->messages++ == 0) snprintf(h->first, sizeof h->first, "%s", line);
    snprintf(h->last, sizeof h->last, "%s", line);
    if (length > h->longest) h->longest = length;
    assert_int_equal(line[length], '\0');
}

static void on_printed(void *self, const char *line)
{
    Heard *h = self;
    h->printed++;
    snprintf(h->last_printed, sizeof h->last_printed, "%s", line);
}

static void on_tick(void *self)
{
    Heard *h = self;
    if (++h->ticks == h->raise_at_tick) raise(SIGINT);
}

static ChildResult run(int (*body)(void *, int), void *arg, double timeout, Heard *heard)
{
    const ChildTask task = {.body = body,
                            .arg = arg,
                            .timeout = timeout,
                            .self = heard,
                            .message = on_message,
                            .printed = on_printed,
                            .tick = on_tick};
    ChildResult result;
    assert_int_equal(child_run(&task, &result), ST_OK);
    return result;
}

static void say(int out, const char *text)
{
    child_write(out, text, strlen(text));
}

static int talks(void *arg, int out)
{
    say(out, "one\ntw");
    say(out, "o\nthree\ntorn");
    printf("to stdout\n");
    fprintf(stderr, "to stderr\n");
    return arg ? 7 : 0;
}

static void test_returns(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(talks, NULL, 0, &h);
    assert_int_equal(r.end, CHILD_RETURNED);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.text, "");
    assert_int_equal(h.messages, 3); /* a line without its end is no message */
    assert_string_equal(h.first, "one");
    assert_string_equal(h.last, "three");
    assert_int_equal(h.printed, 2);
}

static void test_exit_code(void **state)
{
    (void)state;
    Heard h = {0};
    int seven = 7;
    const ChildResult r = run(talks, &seven, 0, &h);
    assert_int_equal(r.end, CHILD_RETURNED);
    assert_int_equal(r.code, 7);
    assert_non_null(strstr(r.text, "exit code 7"));
}

static int crashes(void *arg, int out)
{
    say(out, "before\n");
    fprintf(stderr, "about to\tdie\n\n");
    signal(*(int *)arg, SIG_DFL); /* sanitizers catch some */
    raise(*(int *)arg);
    return 0;
}

static void test_crash(void **state)
{
    (void)state;
    Heard h = {0};
    int which = SIGSEGV;
    ChildResult r = run(crashes, &which, 0, &h);
    assert_int_equal(r.end, CHILD_SIGNALLED);
    assert_int_equal(r.code, SIGSEGV);
    assert_non_null(strstr(r.text, "SIGSEGV"));
    assert_non_null(strstr(r.text, "about to die"));
    assert_string_equal(h.last, "before");

    which = SIGABRT;
    r = run(crashes, &which, 0, &h);
    assert_int_equal(r.code, SIGABRT);
    assert_non_null(strstr(r.text, "SIGABRT"));
}

static int kills_itself(void *arg, int out)
{
    (void)arg;
    (void)out;
    kill(getpid(), SIGKILL);
    return 0;
}

static void test_killed(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(kills_itself, NULL, 0, &h);
    assert_int_equal(r.end, CHILD_SIGNALLED);
    assert_int_equal(r.code, SIGKILL);
    assert_non_null(strstr(r.text, "memory"));
}

static int warns(void *arg, int out)
{
    (void)arg;
    (void)out;
    fprintf(stderr, "roofstep: warning: the same of every cell\nsomething else\n");
    return 0;
}

static void test_warnings_are_heard_once(void **state)
{
    (void)state;
    Heard h = {0};
    run(warns, NULL, 0, &h);
    assert_int_equal(h.printed, 2);
    run(warns, NULL, 0, &h);
    assert_int_equal(h.printed, 3);
    assert_string_equal(h.last_printed, "something else");
}

static int hangs(void *arg, int out)
{
    (void)arg;
    say(out, "started\n");
    while (pause() < 0) continue;
    return 0;
}

static void test_timeout(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(hangs, NULL, 0.3, &h);
    assert_int_equal(r.end, CHILD_TIMED_OUT);
    assert_non_null(strstr(r.text, "0.3 s"));
    assert_string_equal(h.last, "started");
    assert_true(h.ticks > 0);
}

static int writes_much(void *arg, int out)
{
    const size_t n = *(size_t *)arg;
    char *line = malloc(n + 1);
    if (!line) return 1;
    memset(line, 'x', n);
    line[n] = '\n';
    for (int i = 0; i < 3; i++) child_write(out, line, n + 1);
    for (int i = 0; i < 3; i++) fprintf(stderr, "%.*s\n", 100000, line);
    free(line);
    return 0;
}

static void test_long_messages(void **state)
{
    (void)state;
    Heard h = {0};
    size_t n = (size_t)3 << 20;
    const ChildResult r = run(writes_much, &n, 0, &h);
    assert_int_equal(r.end, CHILD_RETURNED);
    assert_int_equal(h.messages, 3);
    assert_int_equal(h.longest, n);
}

static void test_flood(void **state)
{
    (void)state;
    Heard h = {0};
    size_t n = (size_t)CHILD_MAX_MESSAGE + 1;
    const ChildResult r = run(writes_much, &n, 60, &h);
    assert_int_equal(r.end, CHILD_FLOODED);
    assert_int_equal(h.messages, 0);
    assert_non_null(strstr(r.text, "16 MiB"));
}

static void test_interrupt(void **state)
{
    (void)state;
    Heard h = {.raise_at_tick = 2};
    interrupt_begin();
    const ChildResult r = run(hangs, NULL, 60, &h);
    assert_int_equal(interrupt_signal(), SIGINT);
    interrupt_end();
    assert_int_equal(r.end, CHILD_INTERRUPTED);
    assert_int_equal(r.code, SIGINT);

    h = (Heard){0}; /* what is over is over */
    assert_int_equal(run(hangs, NULL, 0.3, &h).end, CHILD_TIMED_OUT);
}

/* What the child tells of itself: own process group, reset signals, first in the kernel's line. */
static int describes_itself(void *arg, int out)
{
    (void)arg;
    char text[128];
    int score = -1;
    FILE *f = fopen("/proc/self/oom_score_adj", "re");
    if (f) {
        if (fscanf(f, "%d", &score) != 1) score = -1;
        fclose(f);
    }
    const int n = snprintf(text, sizeof text, "%d %d %d\n", getpgrp() == getpid(), score,
                           read(STDIN_FILENO, text, 1) == 0);
    child_write(out, text, (size_t)n);
    return 0;
}

static void test_surroundings(void **state)
{
    (void)state;
    Heard h = {0};
    run(describes_itself, NULL, 0, &h);
    assert_string_equal(h.last, "1 1000 1");
}

static char state_of(int pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    fclose(f);
    return state;
}

/* A grandchild keeps the pipes open: the parent must not wait for it, nor leave it running. */
static int leaves_grandchild(void *arg, int out)
{
    (void)arg;
    const pid_t pid = fork();
    if (pid == 0) return hangs(NULL, out);
    char text[32];
    const int n = snprintf(text, sizeof text, "%d\n", pid);
    child_write(out, text, (size_t)n);
    return 0;
}

static bool gone_soon(int pid)
{
    for (int i = 0; i < 500; i++) {
        const char state = state_of(pid);
        if (state == 0 || state == 'Z') return true;
        usleep(10000);
    }
    return false;
}

static void test_grandchild(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(leaves_grandchild, NULL, 15, &h);
    assert_int_equal(r.end, CHILD_RETURNED);
    assert_true(atoi(h.first) > 0 || atoi(h.last) > 0);
    assert_true(gone_soon(atoi(atoi(h.first) > 0 ? h.first : h.last)));
}

/* A child must not outlive its parent, even one that is killed with no time to clean up. The pid of
 * the hanging child comes up through its parent, which is then killed. */
static int hangs_after_its_pid(void *arg, int out)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%d", getpid());
    if (write(*(int *)arg, text, (size_t)n + 1) < 0) return 1;
    return hangs(NULL, out);
}

static int kills_a_parent(void *arg, int out)
{
    (void)arg;
    (void)out;
    int ends[2];
    if (pipe(ends)) return 2;
    const pid_t middle = fork();
    if (middle == 0) {
        Heard h = {0};
        run(hangs_after_its_pid, &ends[1], 60, &h);
        _exit(0);
    }
    char text[32] = "";
    if (read(ends[0], text, sizeof text - 1) <= 0) return 3;
    const int hanging = atoi(text);
    if (state_of(hanging) == 0) return 4;
    kill(middle, SIGKILL);
    return gone_soon(hanging) ? 0 : 5;
}

static void test_no_orphan(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(kills_a_parent, NULL, 30, &h);
    assert_int_equal(r.end, CHILD_RETURNED);
    assert_int_equal(r.code, 0);
}

/* Which rank a launcher saw die counts, whatever it says of itself after that. */
static int launcher_that_saw_a_rank_die(void *arg, int out)
{
    (void)arg;
    (void)out;
    fprintf(stderr,
            "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9.\n");
    fprintf(stderr, "-----\n[a:1] PMIX ERROR: ERROR in file x.c at line 99\n");
    return 137;
}

static void test_which_rank_died(void **state)
{
    (void)state;
    Heard h = {0};
    const ChildResult r = run(launcher_that_saw_a_rank_die, NULL, 60, &h);
    assert_non_null(strstr(r.text, "last line: mpirun noticed that process rank 1 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns),         cmocka_unit_test(test_exit_code),
        cmocka_unit_test(test_crash),           cmocka_unit_test(test_killed),
        cmocka_unit_test(test_which_rank_died), cmocka_unit_test(test_warnings_are_heard_once),
        cmocka_unit_test(test_timeout),         cmocka_unit_test(test_grandchild),
        cmocka_unit_test(test_long_messages),   cmocka_unit_test(test_flood),
        cmocka_unit_test(test_interrupt),       cmocka_unit_test(test_surroundings),
        cmocka_unit_test(test_no_orphan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
