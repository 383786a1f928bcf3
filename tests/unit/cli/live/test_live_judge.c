#include "base/rng.h"
#include "cli/live/live_judge.h"
#include "cli/live/live_run.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>

enum { STEP = COMPARISON_PHASES - 1 };

/* The rows of a start: a step for each cell, in ms. */
static void take_rows(LiveSide *side, const double *ms, size_t n)
{
    record_set_free(&side->rows);
    assert_int_equal(record_set_init(&side->rows, NULL), ST_OK);
    for (size_t i = 0; i < n; i++) {
        const double seconds[] = {ms[i] / 1e3, ms[i] / 500, ms[i] / 400};
        Record *row = json_pack("{s:s, s:s}", "cell", i ? "b" : "a", "environment_id", "e");
        assert_int_equal(record_put_status(row, RECORD_OK, NULL), ST_OK);
        assert_int_equal(record_put_samples(row, "step", seconds, 3), ST_OK);
        assert_int_equal(record_set_add(&side->rows, row), ST_OK);
        json_decref(row);
    }
}

static Live *new_live(double fail_above)
{
    Live *live = calloc(1, sizeof *live);
    assert_non_null(live);
    live->task = (LiveTask){
        .phase_list = "step", .stat = STAT_MIN, .margin = 0.03, .fail_above = fail_above};
    live->task.wanted[STEP] = true;
    return live;
}

/* Two cells: the first changes by `change`, the second does not; noise of 0.5 %. */
static Live *with_pairs(double change, int pairs, double fail_above)
{
    Live *live = new_live(fail_above);
    for (int i = 0; i < pairs; i++) {
        double ms[LIVE_SIDES][2];
        for (int k = 0; k < 4; k++)
            ms[k / 2][k % 2] = 100 + rng_uniform(3, (uint64_t)k, (uint64_t)i);
        ms[LIVE_NEW][0] *= 1 + change;
        for (int side = 0; side < LIVE_SIDES; side++) take_rows(&live->sides[side], ms[side], 2);
        assert_int_equal(live_judge_add_pair(live), ST_OK);
        live_judge_decide(live);
    }
    return live;
}

static void expect(double change, int pairs, double fail_above, ComparisonVerdict verdict,
                   bool sure)
{
    Live *live = with_pairs(change, pairs, fail_above);
    assert_int_equal(live_judge_verdict(live), verdict);
    assert_int_equal(live_judge_is_sure(live), sure);
    assert_true(fabs(live->error - 0.025) < 1e-12); /* half of 5 % for each of two cells */
    live_run_free(live);
    free(live);
}

static void verdicts_follow_from_pairs(void **state)
{
    (void)state;
    expect(0, 16, 0, COMPARISON_SAME, true);
    expect(0.05, 16, 0, COMPARISON_SLOWER, true);
    expect(-0.05, 16, 0, COMPARISON_FASTER, true);
    expect(0.005, 16, 0, COMPARISON_SAME, true); /* less than 1 % is no change */
    expect(0.05, 4, 0, COMPARISON_UNSURE, false);
}

/* Slower, but is it by more than 5 %? */
static void fail_above_needs_to_be_sure(void **state)
{
    (void)state;
    expect(0.08, 16, 0.05, COMPARISON_SLOWER, true);
    expect(0.02, 16, 0.05, COMPARISON_SLOWER, true);
    expect(0.049, 16, 0.05, COMPARISON_UNSURE, false);
}

static void the_worst_cell_is_named(void **state)
{
    size_t cell = 9;
    int phase = 9;
    (void)state;
    Live *live = with_pairs(0.08, 16, 0.05);
    assert_true(live_judge_worst(live, &cell, &phase));
    assert_int_equal(cell, 0);
    assert_int_equal(phase, STEP);
    assert_true(live->cells[0].phases[STEP].regression);
    assert_false(live->cells[1].phases[STEP].regression);
    live_run_free(live);
    free(live);
    live = with_pairs(0, 16, 0);
    assert_false(live_judge_worst(live, &cell, &phase));
    live_run_free(live);
    free(live);
}

static void sides_have_the_same_cells(void **state)
{
    const double ms[] = {100, 100};
    (void)state;
    Live *live = new_live(0);
    take_rows(&live->sides[LIVE_OLD], ms, 2);
    take_rows(&live->sides[LIVE_NEW], ms, 1);
    assert_int_equal(live_judge_add_pair(live), ST_USAGE);
    live_run_free(live);
    free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_from_pairs),
        cmocka_unit_test(fail_above_needs_to_be_sure),
        cmocka_unit_test(the_worst_cell_is_named),
        cmocka_unit_test(sides_have_the_same_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
