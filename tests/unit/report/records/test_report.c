/* Every format from one fixed set of results, held to the files under golden/.
 * ROOFSTEP_UPDATE_GOLDEN=1 writes them anew: read the difference before committing it. */
#include "bench/record/record_stat.h"
#include "report/records/baseline.h"
#include "report/records/cell_text.h"
#include "report/records/measured_phase.h"
#include "report/records/report.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static RecordSet set;

static int load(void **state)
{
    (void)state;
    if (record_set_init(&set, NULL) != ST_OK) return -1;
    if (record_file_read(&set, "golden/results.json", NULL) == ST_OK) return 0;
    print_error("%s\n", status_message());
    return -1;
}

static int unload(void **state)
{
    (void)state;
    record_set_free(&set);
    return 0;
}

static void check_golden_of(const RecordSet *rows, const char *format, const char *baseline,
                            const char *path)
{
    const ReportInput input = {rows, baseline};
    Text made = {0}, golden = {0};
    if (report_write(&made, format, &input) != ST_OK) fail_msg("%s", status_message());
    if (getenv("ROOFSTEP_UPDATE_GOLDEN")) {
        assert_int_equal(text_write_file(path, text_str(&made), made.n), ST_OK);
    }
    if (text_read_file(&golden, path, 1 << 20) != ST_OK) fail_msg("%s", status_message());
    assert_string_equal(text_str(&made), text_str(&golden));
    text_free(&made);
    text_free(&golden);
}

static void check_golden(const char *format, const char *baseline, const char *path)
{
    check_golden_of(&set, format, baseline, path);
}

static void every_format_is_as_recorded(void **state)
{
    (void)state;
    static const char *const names[] = {
#define REPORT(kind, name, ending, help) #name,
#include "report/format/reports.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "golden/results.%s", names[i]);
        check_golden(names[i], NULL, path);
    }
}

/* The same results by their medians, and by their fastest samples. */
static void every_statistic_is_as_recorded(void **state)
{
    (void)state;
    assert_int_equal(record_stat_change_set(&set, STAT_MEDIAN), ST_OK);
    check_golden("md", "fp32", "golden/median.md");
    assert_int_equal(record_stat_change_set(&set, STAT_MIN), ST_OK);
    check_golden("md", NULL, "golden/min.md");
}

static void baseline_adds_speedups(void **state)
{
    (void)state;
    check_golden("md", "fp32", "golden/baseline.md");
}

/* Attention alone: with a baseline a second table, the values beside each other. */
static void attention_is_set_side_by_side(void **state)
{
    (void)state;
    RecordSet rows;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    if (record_file_read(&rows, "golden/attention.json", NULL) != ST_OK)
        fail_msg("%s", status_message());
    check_golden_of(&rows, "md", "fp32", "golden/attention.md");
    check_golden_of(&rows, "md", "naive", "golden/attention-naive.md");
    check_golden_of(&rows, "latex", "ctx=1024", "golden/attention.latex");
    check_golden_of(&rows, "csv", NULL, "golden/attention.csv");
    record_set_free(&rows);
}

static void expect_usage(Status status, const char *fragment)
{
    assert_int_equal(status, ST_USAGE);
    assert_non_null(strstr(status_message(), fragment));
    assert_null(strchr(status_message(), '\n'));
}

static void unknown_formats_and_baselines_are_refused(void **state)
{
    (void)state;
    Text out = {0};
    expect_usage(report_write(&out, "html2", &(ReportInput){&set, NULL}), "there are md csv json");
    expect_usage(report_write(&out, "md", &(ReportInput){&set, "fp33"}),
                 "rows differ in size small 2.7B");
    expect_usage(report_write(&out, "md", &(ReportInput){&set, "ctx=128"}),
                 "no row has this value");
    text_free(&out);
}

static void put_row(RecordSet *rows, const char *precision, int64_t ctx, int64_t batch, double mean)
{
    Config config;
    config_defaults(&config);
    config.ctx = ctx;
    config.batch = batch;
    config.stat = STAT_MEAN; /* three samples have no interval of their median */
    config.precision = strcmp(precision, "bf16") == 0 ? PRECISION_BF16 : PRECISION_FP32;
    Record *record;
    const double seconds[] = {mean * 0.99, mean, mean * 1.01};
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_samples(record, "step", seconds, 3), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    /* What was used differs from what was asked for; the cell is still the same. */
    assert_int_equal(record_put_text(record, "attention", ctx > 100 ? "fused" : "naive"), ST_OK);
    assert_int_equal(record_set_add(rows, record), ST_OK);
    json_decref(record);
}

static void baseline_is_the_row_alike_in_all_else(void **state)
{
    (void)state;
    RecordSet rows;
    Baseline baseline;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_row(&rows, "fp32", 64, 64, 1.0);
    put_row(&rows, "bf16", 64, 64, 0.5);
    put_row(&rows, "fp32", 128, 64, 2.0);
    put_row(&rows, "bf16", 128, 64, 0.4);
    put_row(&rows, "bf16", 128, 8, 0.1);
    expect_usage(baseline_find(&baseline, &rows, "64"),
                 "ctx and batch both have this value; use ctx=64");
    assert_int_equal(baseline_find(&baseline, &rows, "ctx=64"), ST_OK);
    assert_string_equal(baseline.column->path, "ctx");
    assert_ptr_equal(baseline_row(&baseline, &rows, record_set_at(&rows, 3)),
                     record_set_at(&rows, 1));
    assert_int_equal(baseline_find(&baseline, &rows, "fp32"), ST_OK);
    assert_ptr_equal(baseline_row(&baseline, &rows, record_set_at(&rows, 3)),
                     record_set_at(&rows, 2));
    assert_null(baseline_row(&baseline, &rows, record_set_at(&rows, 4)));
    Text out = {0};
    assert_int_equal(report_write(&out, "md", &(ReportInput){&rows, "fp32"}), ST_OK);
    assert_non_null(strstr(text_str(&out), "| 5.00 ± 0.07 |"));
    text_free(&out);
    record_set_free(&rows);
}

static void a_row_that_fitted_in_part_says_what_was_measured(void **state)
{
    (void)state;
    RecordSet rows;
    Text out = {0};
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_row(&rows, "fp32", 64, 64, 1.0);
    put_row(&rows, "bf16", 64, 64, 0.25);
    Record *whole = record_set_at(&rows, 0), *part = record_set_at(&rows, 1);
    assert_int_equal(record_put_text(whole, "measured_mode", "train"), ST_OK);
    assert_int_equal(record_put_text(part, "measured_mode", "train"), ST_OK);
    assert_int_equal(report_write(&out, "md", &(ReportInput){&rows, "fp32"}), ST_OK);
    assert_non_null(strstr(text_str(&out), "| 4.00 ± "));
    assert_null(strstr(text_str(&out), "| measured mode |"));
    text_clear(&out);
    assert_int_equal(record_put_text(part, "measured_mode", "fwd"), ST_OK);
    assert_int_equal(report_write(&out, "md", &(ReportInput){&rows, "fp32"}), ST_OK);
    assert_null(strstr(text_str(&out), "| 4.00 ± ")); /* a forward pass against a training step */
    assert_non_null(strstr(text_str(&out), "| measured mode |"));
    assert_non_null(strstr(text_str(&out), "| fwd "));
    text_free(&out);
    record_set_free(&rows);
}

/* Before its first sample or after some, a time-out is the same word; what was not asked for has none. */
static void a_row_that_was_not_begun_says_so_in_its_phases(void **state)
{
    (void)state;
    Config config;
    Record *record;
    double ms;
    const double seconds[] = {1, 2};
    config_defaults(&config);
    config.mode = MODE_FWD;
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_TIMEOUT, "not begun"), ST_OK);
    assert_int_equal(measured_phase_status(record, "forward"), RECORD_TIMEOUT);
    assert_int_equal(measured_phase_status(record, "step"), RECORD_TIMEOUT);
    assert_int_equal(measured_phase_status(record, "backward"), RECORD_STATUS_COUNT);
    assert_int_equal(record_put_samples(record, "step", seconds, 2), ST_OK);
    assert_true(measured_phase_number(record, "step.mean_ms", &ms));
    assert_int_equal(record_put_text(record, "step.status", "timeout"), ST_OK);
    assert_false(measured_phase_number(record, "step.mean_ms", &ms));
    assert_true(measured_phase_number(record, "ctx", &ms));
    json_decref(record);
}

static void put_unsupported(RecordSet *rows, const char *size, int64_t ctx)
{
    Config config;
    Record *record;
    config_defaults(&config);
    snprintf(config.model.size, sizeof config.model.size, "%s", size);
    config.ctx = ctx;
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_UNSUPPORTED, "not here"), ST_OK);
    assert_int_equal(record_put_phase(record, "forward", RECORD_UNSUPPORTED, "not here"), ST_OK);
    assert_int_equal(record_set_add(rows, record), ST_OK);
    json_decref(record);
}

static void check_md(const RecordSet *rows, const char *fragment, bool expected)
{
    Text out = {0};
    assert_int_equal(report_write(&out, "md", &(ReportInput){rows, NULL}), ST_OK);
    if ((strstr(text_str(&out), fragment) != NULL) != expected) {
        fail_msg("'%s' %s in\n%s", fragment, expected ? "is not" : "is", text_str(&out));
    }
    text_free(&out);
}

static void what_rows_have_in_common_is_said_once(void **state)
{
    (void)state;
    RecordSet rows;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_unsupported(&rows, "custom", 64);
    check_md(&rows, "- Common: d_model 768, d_ff 3072, layers 12, heads 12, vocab 10000, ctx 64,",
             true);
    put_unsupported(&rows, "custom", 128);
    check_md(&rows, "- custom, ctx 64; custom, ctx 128: unsupported: not here\n", true);
    check_md(&rows, "forward: unsupported", false); /* the result's own message says it */
    check_md(&rows, "| d_model |", false);
    for (int64_t ctx = 129; ctx < 140; ctx++) put_unsupported(&rows, "custom", ctx);
    check_md(&rows, "; custom, ctx 132; and 7 more: unsupported: not here\n", true);
    record_set_free(&rows);
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_unsupported(&rows, "small", 64);
    check_md(&rows, "d_model", false); /* a preset's name says it */
    record_set_free(&rows);
}

static void put_ok(RecordSet *rows, const char *device, const char *blas)
{
    Config config;
    Record *record;
    config_defaults(&config);
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_put_text(record, "cell", device), ST_OK);
    assert_int_equal(record_put_text(record, "device", device), ST_OK);
    if (blas) assert_int_equal(record_put_text(record, "blas", blas), ST_OK);
    assert_int_equal(record_set_add(rows, record), ST_OK);
    json_decref(record);
}

/* Who multiplied on a CPU did not on a GPU, whose row says nothing of it. */
static void what_a_row_ran_without_is_not_common(void **state)
{
    (void)state;
    RecordSet rows;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_ok(&rows, "cpu", "own neon");
    put_unsupported(&rows, "small", 128);
    check_md(&rows, ", blas own neon,", true);
    put_ok(&rows, "cuda:0", NULL);
    check_md(&rows, "own neon", false);
    record_set_free(&rows);
}

static void baseline_can_be_checked_before_the_work(void **state)
{
    (void)state;
    Config configs[2];
    config_defaults(&configs[0]);
    configs[1] = configs[0];
    expect_usage(baseline_check(configs, 2, "fp32"), "do not differ");
    configs[1].precision = PRECISION_BF16;
    assert_int_equal(baseline_check(configs, 2, "bf16"), ST_OK);
    expect_usage(baseline_check(configs, 2, "bf61"), "rows differ in precision fp32 bf16");
}

static void errors_propagate_into_ratios(void **state)
{
    (void)state;
    const Ratio r = cell_text_ratio(6, 0.3, 2, 0.1);
    assert_true(fabs(r.value - 3) < 1e-12);
    assert_true(fabs(r.error - 3 * sqrt(0.05 * 0.05 + 0.05 * 0.05)) < 1e-12);
    assert_true(isnan(cell_text_ratio(6, NAN, 2, 0.1).error));
}

static void no_rows_make_an_empty_table(void **state)
{
    (void)state;
    RecordSet none;
    json_t *environment = json_pack("{s:s}", "id", "x");
    assert_int_equal(record_set_init(&none, environment), ST_OK);
    Text out = {0};
#define REPORT(kind, name, ending, help) \
    assert_int_equal(report_write(&out, #name, &(ReportInput){&none, NULL}), ST_OK);
#include "report/format/reports.def"
    text_free(&out);
    record_set_free(&none);
    json_decref(environment);
}

static void the_ending_of_a_name_says_the_format(void **state)
{
    (void)state;
#define REPORT(kind, name, ending, help) \
    assert_string_equal(report_format_of("a.b/c" ending), #name);
#include "report/format/reports.def"
    assert_null(report_format_of("csv"));
    assert_null(report_format_of("results.csv.gz"));
    assert_null(report_format_of("results.csv/x"));
}

/* ---- sqlite3 ---- */

static void query(const char *database, const char *sql, char *answer, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "sqlite3 %s \"%s\"", database, sql);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(answer, 1, size - 1, pipe);
    answer[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void sql_accumulates_in_sqlite(void **state)
{
    (void)state;
    if (system("command -v sqlite3 > /dev/null 2>&1") != 0) {
        print_message("sqlite3 is not installed: not tried\n");
        skip();
    }
    char folder[] = "/tmp/roofstep-test-XXXXXX", database[64], command[160], answer[256];
    assert_non_null(mkdtemp(folder));
    snprintf(database, sizeof database, "%s/db", folder);
    snprintf(command, sizeof command, "sqlite3 -bail %s < golden/results.sql", database);
    assert_int_equal(system(command), 0);
    assert_int_equal(system(command), 0);
    query(database, "SELECT count(*), count(DISTINCT cpu) FROM roofstep_results", answer, 256);
    assert_string_equal(answer, "12|1\n");
    query(database,
          "SELECT DISTINCT precision, forward_mean_ms, parameters, "
          "json_array_length(forward_samples_ms)"
          " FROM roofstep_results WHERE size = 'small' AND status = 'ok'",
          answer, 256);
    assert_string_equal(answer, "fp32|902.5|128625408|3\nbf16|450.25|128625408|3\n");
    query(database, "SELECT DISTINCT size FROM roofstep_results WHERE size LIKE 'a&b%'", answer,
          256);
    assert_string_equal(answer, "a&b_c%d#e$f~g^h\\i{j}k|l\"m'n<o>p\nq`r*s[t],u;v_\n");
    unlink(database);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_format_is_as_recorded, load, unload),
        cmocka_unit_test_setup_teardown(every_statistic_is_as_recorded, load, unload),
        cmocka_unit_test_setup_teardown(baseline_adds_speedups, load, unload),
        cmocka_unit_test(attention_is_set_side_by_side),
        cmocka_unit_test_setup_teardown(unknown_formats_and_baselines_are_refused, load, unload),
        cmocka_unit_test(baseline_is_the_row_alike_in_all_else),
        cmocka_unit_test(a_row_that_fitted_in_part_says_what_was_measured),
        cmocka_unit_test(a_row_that_was_not_begun_says_so_in_its_phases),
        cmocka_unit_test(what_rows_have_in_common_is_said_once),
        cmocka_unit_test(what_a_row_ran_without_is_not_common),
        cmocka_unit_test(baseline_can_be_checked_before_the_work),
        cmocka_unit_test(errors_propagate_into_ratios),
        cmocka_unit_test(no_rows_make_an_empty_table),
        cmocka_unit_test(the_ending_of_a_name_says_the_format),
        cmocka_unit_test(sql_accumulates_in_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
