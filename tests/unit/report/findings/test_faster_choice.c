/* A choice counts as faster where its samples show it. */
#include "report/findings/faster_choice.h"
#include "with_cmocka.h"

#include <math.h>

static RecordSet set;

static int empty_set(void **state)
{
    (void)state;
    json_t *environment = json_pack("{s:s}", "id", "0123456789ab");
    const Status status = record_set_init(&set, environment);
    json_decref(environment);
    return status == ST_OK ? 0 : -1;
}

static int free_set(void **state)
{
    (void)state;
    record_set_free(&set);
    return 0;
}

/* A row of n samples in ms. */
static void add(int64_t ctx, Precision precision, const double *ms, int n)
{
    Config c;
    Record *r = NULL;
    double seconds[20];
    config_defaults(&c);
    c.ctx = ctx;
    c.precision = precision;
    for (int i = 0; i < n; i++) seconds[i] = 1e-3 * ms[i];
    assert_int_equal(record_new(&r, &c), ST_OK);
    assert_int_equal(record_put_status(r, RECORD_OK, NULL), ST_OK);
    assert_int_equal(record_put_text(r, "stat", "median"), ST_OK);
    assert_int_equal(record_put_samples(r, "step", seconds, n), ST_OK);
    assert_int_equal(record_set_add(&set, r), ST_OK);
    json_decref(r);
}

/* How many choices the rows of the set have. */
static size_t count(void)
{
    FasterChoices choices = {0};
    assert_int_equal(faster_choice_add(&choices, &set), ST_OK);
    const size_t n = choices.n;
    faster_choice_free(&choices);
    return n;
}

static void check_pair(const double *fp32, const double *bf16, int n, size_t expected)
{
    free_set(NULL);
    empty_set(NULL);
    add(128, PRECISION_FP32, fp32, n);
    add(128, PRECISION_BF16, bf16, n);
    assert_int_equal(count(), expected);
}

static void few_samples_must_not_overlap(void **state)
{
    (void)state;
    const double slow[] = {100, 103, 109}, wide[] = {90, 98, 101}, fast[] = {90, 95, 99};
    check_pair(slow, wide, 3, 0);
    check_pair(slow, fast, 3, 1);
    check_pair(slow, wide, 1, 0); /* one sample has no spread */
}

/* With an interval it is the rank test that decides, as in `compare`. */
static void many_samples_are_tested(void **state)
{
    (void)state;
    const double slow[] = {100, 101, 102, 103, 104, 105, 106, 107};
    const double noise[] = {90, 92, 99, 102.5, 103.5, 104, 105, 106};
    const double fast[] = {90, 91, 92, 93, 94, 95, 96, 101.5}; /* one that overlaps */
    check_pair(slow, noise, 8, 0);
    check_pair(slow, fast, 8, 1);
}

static void each_cell_has_its_own(void **state)
{
    (void)state;
    FasterChoices choices = {0};
    const double slow[] = {100, 101}, fast[] = {80, 81}, faster[] = {50, 51};
    add(128, PRECISION_FP32, slow, 2);
    add(128, PRECISION_BF16, fast, 2);
    add(256, PRECISION_FP32, slow, 2);
    add(256, PRECISION_BF16, faster, 2);
    add(512, PRECISION_BF16, faster, 2);
    assert_int_equal(faster_choice_add(&choices, &set), ST_OK);
    assert_int_equal(choices.n, 2);
    assert_int_equal(choices.at[0].from, 0);
    assert_int_equal(choices.at[1].from, 2);
    assert_ptr_equal(faster_choice_best(&choices), &choices.at[1]);
    assert_string_equal(choices.at[1].field, "precision");
    assert_true(fabs(choices.at[1].saved - (1 - 50.5 / 100.5)) < 1e-9);
    faster_choice_free(&choices);
    assert_null(faster_choice_best(&choices));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, empty_set, free_set)
    const struct CMUnitTest tests[] = {TEST(few_samples_must_not_overlap),
                                       TEST(many_samples_are_tested), TEST(each_cell_has_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
