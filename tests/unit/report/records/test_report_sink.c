#include "report/records/report_sink.h"
#include "with_cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/roofstep-test-XXXXXX";
static char path[128];
static RecordSet empty; /* with an environment */

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    json_t *environment = json_pack("{s:s, s:s}", "id", "here", "cpu", "one");
    const Status status = record_set_init(&empty, environment);
    json_decref(environment);
    return status == ST_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    record_set_free(&empty);
    unlink(path);
    return rmdir(folder);
}

static Record *make(int64_t ctx)
{
    Config config;
    Record *record;
    const double seconds[] = {0.25, 0.5};
    config_defaults(&config);
    config.ctx = ctx;
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_samples(record, "step", seconds, 2), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    return record;
}

static Status add(ReportSink *sink, int64_t ctx)
{
    Record *record = make(ctx);
    const Status status = report_sink_add(sink, record);
    json_decref(record);
    return status;
}

static size_t rows_in_file(void)
{
    RecordSet set;
    assert_int_equal(record_set_init(&set, NULL), ST_OK);
    if (record_file_read(&set, path, NULL) != ST_OK) fail_msg("%s", status_message());
    const size_t n = record_set_size(&set);
    for (size_t i = 0; i < n; i++) {
        int64_t ctx;
        assert_true(record_int(record_set_at(&set, i), "ctx", &ctx));
        assert_int_equal(ctx, i + 1);
    }
    record_set_free(&set);
    return n;
}

static const char *const formats[] = {"json", "jsonl"};

static void the_file_is_right_after_every_record(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        ReportSink sink;
        unlink(path);
        assert_int_equal(report_sink_open(&sink, path, formats[f], &empty), ST_OK);
        assert_int_equal(rows_in_file(), 0);
        for (int64_t i = 1; i <= 3; i++) {
            assert_int_equal(add(&sink, i), ST_OK);
            assert_int_equal(rows_in_file(), i);
        }
        report_sink_close(&sink);
        /* A later run goes on where this one ended. */
        RecordSet known;
        assert_int_equal(record_set_init(&known, NULL), ST_OK);
        assert_int_equal(record_file_read(&known, path, NULL), ST_OK);
        assert_int_equal(report_sink_open(&sink, path, formats[f], &known), ST_OK);
        record_set_free(&known);
        assert_int_equal(add(&sink, 4), ST_OK);
        assert_int_equal(rows_in_file(), 4);
        report_sink_close(&sink);
    }
}

static void the_final_file_has_the_order_of_the_sweep(void **state)
{
    (void)state;
    ReportSink sink;
    RecordSet all;
    assert_int_equal(record_set_init(&all, json_array_get(empty.environments, 0)), ST_OK);
    for (int64_t i = 1; i <= 2; i++) {
        Record *record = make(i);
        assert_int_equal(record_set_add(&all, record), ST_OK);
        json_decref(record);
    }
    assert_int_equal(report_sink_open(&sink, path, "jsonl", &empty), ST_OK);
    assert_int_equal(report_sink_add(&sink, record_set_at(&all, 1)), ST_OK);
    assert_int_equal(report_sink_add(&sink, record_set_at(&all, 0)), ST_OK);
    assert_int_equal(report_sink_finish(&sink, &(ReportInput){&all, NULL}), ST_OK);
    assert_int_equal(rows_in_file(), 2);
    report_sink_close(&sink);
    record_set_free(&all);
}

/* ---- kill -9 ---- */

static void write_until_killed(const char *format, int acknowledge)
{
    ReportSink sink;
    if (report_sink_open(&sink, path, format, &empty) != ST_OK) _exit(1);
    for (int64_t i = 1;; i++) {
        if (add(&sink, i) != ST_OK || write(acknowledge, "x", 1) != 1) _exit(1);
    }
}

static void finished_records_survive_a_kill(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        int ends[2], status;
        char byte;
        unlink(path);
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            write_until_killed(formats[round % 2], ends[1]);
        }
        close(ends[1]);
        for (int i = 0; i <= round; i++) assert_int_equal(read(ends[0], &byte, 1), 1);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(ends[0]);
        assert_true(rows_in_file() >= (size_t)round + 1);
    }
    /* What a killed writer was about to rename is left behind. */
    char command[160];
    snprintf(command, sizeof command, "rm -f %s/out.*.tmp", folder);
    (void)!system(command);
}

/* ---- where it cannot be written ---- */

static void a_bad_place_is_found_before_the_work(void **state)
{
    static const char *const names[] = {
#define REPORT(kind, name, ending, help) #name,
#include "report/format/reports.def"
    };
    (void)state;
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        ReportSink sink;
        assert_int_equal(report_sink_open(&sink, "/nonexistent/x", names[f], &empty), ST_IO);
        assert_non_null(strstr(status_message(), "/nonexistent/x"));
        assert_int_equal(report_sink_open(&sink, folder, names[f], &empty), ST_IO);
        assert_int_equal(report_sink_open(&sink, "/dev/full", names[f], &empty), ST_IO);
        assert_non_null(strstr(status_message(), "/dev/full"));
        assert_int_equal(report_sink_open(&sink, path, "none", &empty), ST_USAGE);
    }
}

/* In a process of its own: the limit and the ignored signal are the process's. */
static void fill_up(const char *format)
{
    ReportSink sink;
    signal(SIGXFSZ, SIG_IGN);
    if (report_sink_open(&sink, path, format, &empty) != ST_OK) _exit(10);
    if (add(&sink, 1) != ST_OK || add(&sink, 2) != ST_OK) _exit(11);
    const off_t size = lseek(open(path, O_RDONLY), 0, SEEK_END);
    const struct rlimit limit = {(rlim_t)size + 100, (rlim_t)size + 100};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(12);
    if (add(&sink, 3) != ST_IO) _exit(13);
    _exit(strstr(status_message(), path) ? 0 : 14);
}

static void a_full_disk_keeps_what_is_there(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        int status;
        unlink(path);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) fill_up(formats[f]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(rows_in_file(), 2);
        /* Not even a torn line. */
        RecordSet set;
        bool torn;
        assert_int_equal(record_set_init(&set, NULL), ST_OK);
        assert_int_equal(record_file_read(&set, path, &torn), ST_OK);
        assert_false(torn);
        record_set_free(&set);
    }
}

/* ---- streams ---- */

static size_t drain(int fd, char *text, size_t size)
{
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    return n;
}

static void a_stream_gets_everything_once(void **state)
{
    static const char *const names[] = {"md", "jsonl"};
    (void)state;
    for (int f = 0; f < 2; f++) {
        ReportSink sink;
        int ends[2];
        char name[32], text[8192];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
        assert_int_equal(report_sink_open(&sink, name, names[f], &empty), ST_OK);
        assert_true(sink.stream);
        assert_int_equal(add(&sink, 1), ST_OK);
        assert_int_equal(drain(ends[0], text, sizeof text) > 0, f == 1);
        const char *row = f == 1 ? "\"ctx\":1," : "| ok ";
        assert_int_equal(strstr(text, row) != NULL, f == 1);
        assert_int_equal(report_sink_finish(&sink, &(ReportInput){&sink.set, NULL}), ST_OK);
        assert_int_equal(drain(ends[0], text, sizeof text) > 0, f == 0);
        assert_int_equal(strstr(text, row) != NULL, f == 0);
        report_sink_close(&sink);
        close(ends[0]);
        close(ends[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_right_after_every_record),
        cmocka_unit_test(the_final_file_has_the_order_of_the_sweep),
        cmocka_unit_test(finished_records_survive_a_kill),
        cmocka_unit_test(a_bad_place_is_found_before_the_work),
        cmocka_unit_test(a_full_disk_keeps_what_is_there),
        cmocka_unit_test(a_stream_gets_everything_once),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
