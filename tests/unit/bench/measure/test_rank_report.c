#include "bench/measure/rank_report.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What rank_report_print() writes. */
static void printed(const RankReport *report, char *line, size_t size)
{
    int ends[2];
    const int err = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    rank_report_print(report);
    dup2(err, STDERR_FILENO);
    const ssize_t n = read(ends[0], line, size - 1);
    assert_true(n > 0 && line[n - 1] == '\n');
    line[n - 1] = '\0';
    close(err);
    close(ends[0]);
    close(ends[1]);
}

static void test_a_report_comes_through(void **state)
{
    (void)state;
    char line[2048];
    RankReport back;
    const RankReport report = {3, RECORD_KILLED, RANK_STOPPED, "a \"quote\"\nand a line"};
    printed(&report, line, sizeof line);
    assert_null(strchr(line, '\n'));
    assert_true(rank_report_read(line, &back));
    assert_int_equal(back.rank, 3);
    assert_int_equal(back.status, RECORD_KILLED);
    assert_int_equal(back.state, RANK_STOPPED);
    assert_string_equal(back.text, report.text);
}

/* Another rank did not end its line. */
static void test_a_report_in_the_middle_of_a_line(void **state)
{
    (void)state;
    char line[2048] = "50 % done";
    RankReport back;
    const RankReport report = {2, RECORD_OK, RANK_GONE, ""};
    const size_t before = strlen(line);
    printed(&report, line + before, sizeof line - before);
    assert_true(rank_report_read(line, &back));
    assert_int_equal(back.rank, 2);
    assert_int_equal(back.status, RECORD_OK);
}

static void test_other_lines_are_no_reports(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "mpirun noticed that process rank 1 exited on signal 9",
        "roofstep-rank ",
        "roofstep-rank []",
        "roofstep-rank {\"rank\":1}",
        "roofstep-rank {\"rank\":-1,\"end\":\"killed\",\"state\":0,\"message\":\"\"}",
        "roofstep-rank {\"rank\":1,\"end\":\"gone\",\"state\":0,\"message\":\"\"}",
        "roofstep-rank {\"rank\":1,\"end\":\"killed\",\"state\":99,\"message\":\"\"}",
    };
    RankReport report;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_false(rank_report_read(lines[i], &report));
}

static void assert_judged(const RankReport *reports, int n, RecordStatus status, const char *text)
{
    char line[RANK_REPORT_TEXT];
    assert_int_equal(rank_report_judge(reports, n, 3, 7, line), status);
    assert_string_equal(line, text);
}

static void test_who_it_was(void **state)
{
    (void)state;
    const RankReport died[] = {{0, RECORD_FAILED, 0, "MPI: broken pipe"},
                               {2, RECORD_KILLED, 0, "killed (SIGKILL)"}};
    assert_judged(died, 2, RECORD_KILLED, "rank 2 of 3: killed (SIGKILL)");
    assert_judged(died, 1, RECORD_FAILED, "rank 0 of 3: MPI: broken pipe");
    RankReport late[] = {{0, RECORD_TIMEOUT, RANK_WAITING, ""},
                         {1, RECORD_TIMEOUT, RANK_STOPPED, ""},
                         {2, RECORD_TIMEOUT, RANK_BUSY, ""}};
#define LATE(who) "not done after 7 s: " who "; --timeout gives it longer"
    assert_judged(late, 3, RECORD_TIMEOUT, LATE("rank 1 is stopped (SIGSTOP)"));
    late[1].state = RANK_BUSY;
    assert_judged(late, 3, RECORD_TIMEOUT, LATE("ranks 1 and 2 are still at work"));
    late[1].state = late[2].state = RANK_WAITING;
    assert_judged(late, 3, RECORD_TIMEOUT, LATE("all ranks wait in a collective"));
    assert_judged(late, 0, RECORD_TIMEOUT, LATE("no rank has said why"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_report_comes_through),
        cmocka_unit_test(test_a_report_in_the_middle_of_a_line),
        cmocka_unit_test(test_other_lines_are_no_reports),
        cmocka_unit_test(test_who_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
