/* Which row of one rank belongs to one of several. */
#include "bench/record/one_rank.h"
#include "with_cmocka.h"

static Record *row(RecordSet *set, const char *text)
{
    json_t *record = json_loads(text, 0, NULL);
    assert_non_null(record);
    if (set) assert_int_equal(record_set_add(set, record), ST_OK);
    return record;
}

#define ROW(device, threads, ctx, more)                                                         \
    "{\"cell\": \"c\", \"size\": \"tiny\", \"device\": \"" device "\", \"threads\": " threads   \
    ", \"ctx\": " ctx ", \"mode\": \"train\", \"measured_mode\": \"train\", \"status\": \"ok\"" \
    ", \"stat\": \"median\"" more "}"
#define STEP(ms) \
    ", \"step\": {\"status\": \"ok\", \"median_ms\": " #ms ", \"samples_ms\": [" #ms "]}"

static void finds_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        double ms; /* NAN: no such row */
    } cases[] = {
        {ROW("cpu", "2", "64", STEP(7.0)), 7},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"accumulate\": 1"), 7},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"blas\": \"own avx512\", \"warmup\": 9"), 7},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"accumulate\": 2"), 0},
        {ROW("cpu", "1", "64", STEP(7.0)), 0},
        {ROW("cpu", "2", "32", STEP(7.0)), 0},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"ranks\": 2"), 0},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"peer\": \"torch\""), 0},
        {ROW("cpu", "2", "64", STEP(7.0) ", \"recompute\": \"block\""), 0},
        {ROW("cpu", "2", "64", ""), 0},
    };
    json_t *like = row(NULL, ROW("cpu", "2", "64", ", \"ranks\": 4, \"parallel\": \"ddp\""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RecordSet set;
        double ms = 0;
        assert_int_equal(record_set_init(&set, NULL), ST_OK);
        json_t *one = row(&set, cases[i].row);
        if (one_rank_ms(&set, like, &ms) != (cases[i].ms > 0) || ms != cases[i].ms)
            fail_msg("case %zu: %g ms", i, ms);
        json_decref(one);
        record_set_free(&set);
    }
    json_decref(like);
}

/* A GPU's step does not depend on the threads of the host; the last row counts. */
static void of_a_gpu(void **state)
{
    (void)state;
    RecordSet set;
    double ms = 0;
    assert_int_equal(record_set_init(&set, NULL), ST_OK);
    json_t *like = row(NULL, ROW("cuda:0", "1", "64", ", \"ranks\": 4"));
    json_t *one = row(&set, ROW("cuda:0", "16", "64", STEP(3.0)));
    json_t *two = row(&set, ROW("cuda:0", "8", "64", STEP(5.0)));
    assert_true(one_rank_ms(&set, like, &ms) && ms == 5);
    json_decref(one);
    json_decref(two);
    json_decref(like);
    record_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_its_own), cmocka_unit_test(of_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
