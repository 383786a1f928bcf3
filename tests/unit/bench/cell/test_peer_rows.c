/* Rows of a peer in tables: compared with its own rows, and named with what it multiplied with. */
#include "report/records/baseline.h"
#include "report/records/report.h"
#include "with_cmocka.h"

#include <string.h>

static void put_row(RecordSet *rows, Precision precision)
{
    Config config;
    Record *record;
    config_defaults(&config);
    config.precision = precision;
    const double seconds[] = {0.99, 1, 1.01};
    assert_int_equal(record_new(&record, &config), ST_OK);
    assert_int_equal(record_put_samples(record, "step", seconds, 3), ST_OK);
    assert_int_equal(record_put_status(record, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_set_add(rows, record), ST_OK);
    json_decref(record);
}

/* The last row as that of a peer. */
static void make_peer(RecordSet *rows, const char *variant, const char *exec)
{
    Record *record = record_set_at(rows, record_set_size(rows) - 1);
    assert_int_equal(record_put_text(record, "peer", "torch"), ST_OK);
    assert_int_equal(record_put_text(record, "variant", variant), ST_OK);
    assert_int_equal(record_put_text(record, "exec", exec), ST_OK);
    assert_int_equal(record_put_text(record, "cell", variant),
                     ST_OK); /* without ours of its exec */
    assert_int_equal(record_put_text(record, "blas", "OpenBLAS"), ST_OK);
    assert_int_equal(record_put_text(record, "blas_path", "/lib/libblas.so.3"), ST_OK);
    assert_int_equal(record_put_text(record, "blas_tried", "a 1 ms, b 2 ms"), ST_OK);
}

/* A peer's rows are compared with its own, ours with ours; what only a peer's rows differ in is no
 * baseline. */
static void peers_have_their_own_baseline(void **state)
{
    (void)state;
    RecordSet rows;
    Baseline baseline;
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_row(&rows, PRECISION_FP32);
    make_peer(&rows, "best", "eager");
    put_row(&rows, PRECISION_FP32);
    put_row(&rows, PRECISION_BF16);
    put_row(&rows, PRECISION_BF16);
    make_peer(&rows, "best", "eager");
    put_row(&rows, PRECISION_BF16);
    make_peer(&rows, "graphs", "graph");
    assert_int_equal(baseline_find(&baseline, &rows, "fp32"), ST_OK);
    const size_t expected[] = {0, 1, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_ptr_equal(baseline_row(&baseline, &rows, record_set_at(&rows, i)),
                         record_set_at(&rows, expected[i]));
    }
    assert_null(baseline_row(&baseline, &rows, record_set_at(&rows, 4)));
    assert_int_equal(baseline_find(&baseline, &rows, "fused"), ST_USAGE);
    assert_non_null(strstr(status_message(), "rows differ in precision fp32 bf16"));
    record_set_free(&rows);
}

static void a_peers_blas_and_rounds_are_named(void **state)
{
    (void)state;
    RecordSet rows;
    Text out = {0};
    assert_int_equal(record_set_init(&rows, NULL), ST_OK);
    put_row(&rows, PRECISION_FP32);
    put_row(&rows, PRECISION_FP32);
    make_peer(&rows, "eager", "eager");
    for (size_t i = 0; i < 2; i++) {
        record_put_int(record_set_at(&rows, i), "rounds", 3);
        record_put_number(record_set_at(&rows, i), "peak_alloc_mib", 7.0);
    }
    assert_int_equal(report_write(&out, "md", &(ReportInput){&rows, NULL}), ST_OK);
    assert_non_null(strstr(text_str(&out), "matrix multiplications by OpenBLAS, /lib/libblas.so.3; "
                                           "short trials: a 1 ms, b 2 ms"));
    assert_non_null(strstr(text_str(&out), ", rounds 3"));
    assert_non_null(strstr(text_str(&out), "peak of a peer = "));
    text_free(&out);
    record_set_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_have_their_own_baseline),
        cmocka_unit_test(a_peers_blas_and_rounds_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
