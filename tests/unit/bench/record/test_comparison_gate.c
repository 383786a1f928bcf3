#include "bench/record/comparison_gate.h"
#include "with_cmocka.h"

#include <math.h>

static ComparisonPhase phase(ComparisonVerdict verdict, double change, double low, double high)
{
    return (ComparisonPhase){.present = true,
                             .status_a = RECORD_OK,
                             .status_b = RECORD_OK,
                             .change = change,
                             .low = low,
                             .high = high,
                             .verdict = verdict};
}

static ComparisonGate gate_of(ComparisonPhase step, double limit)
{
    ComparisonCell cell = {.phases = {[0] = phase(COMPARISON_SAME, 0, -0.001, 0.001), [3] = step}};
    const Comparison c = {.cells = &cell, .n_cells = 1};
    const ComparisonGate gate = comparison_gate_make(&c, limit);
    assert_true(!gate.worst || (gate.worst == &cell && gate.worst_phase == 3));
    return gate;
}

static void slower_counts_above_the_limit_only(void **state)
{
    (void)state;
    const ComparisonPhase step = phase(COMPARISON_SLOWER, 0.05, 0.04, 0.06);
    assert_int_equal(gate_of(step, 0.03).slower, 1);
    assert_int_equal(gate_of(step, 0.07).slower, 0);
    assert_int_equal(gate_of(step, INFINITY).slower, 0);
    assert_non_null(gate_of(step, INFINITY).worst);
}

/* Unsure is what may be slower by more than the limit and is not shown to be. */
static void the_interval_says_what_is_unsure(void **state)
{
    (void)state;
    assert_int_equal(gate_of(phase(COMPARISON_UNSURE, 0.00, -0.02, 0.02), 0.03).unsure, 0);
    assert_int_equal(gate_of(phase(COMPARISON_UNSURE, 0.00, -0.02, 0.04), 0.03).unsure, 1);
    assert_int_equal(gate_of(phase(COMPARISON_UNSURE, 0.00, NAN, NAN), 0.03).unsure, 1);
    assert_int_equal(gate_of(phase(COMPARISON_UNSURE, 0.00, -0.02, 0.02), INFINITY).unsure, 1);
    assert_int_equal(gate_of(phase(COMPARISON_SLOWER, 0.02, 0.01, 0.04), 0.03).unsure, 1);
    assert_int_equal(gate_of(phase(COMPARISON_SLOWER, 0.05, 0.01, 0.09), 0.03).unsure, 0);
    assert_int_equal(gate_of(phase(COMPARISON_FASTER, -0.05, -0.09, -0.01), 0.03).unsure, 0);
}

static void phases_are_selected(void **state)
{
    (void)state;
    ComparisonCell cell = {.phases = {[0] = phase(COMPARISON_SLOWER, 0.5, 0.4, 0.6),
                                      [3] = phase(COMPARISON_SAME, 0, -0.001, 0.001)}};
    Comparison c = {.cells = &cell, .n_cells = 1};
    assert_int_equal(comparison_gate_select(&c, "forward,steps"), ST_USAGE);
    assert_int_equal(comparison_gate_select(&c, "step,"), ST_USAGE);
    assert_int_equal(comparison_gate_select(&c, "forward,step"), ST_OK);
    assert_int_equal(comparison_gate_make(&c, 0.03).slower, 1);
    assert_int_equal(comparison_gate_select(&c, "step"), ST_OK);
    assert_int_equal(comparison_gate_make(&c, 0.03).slower, 0);
    assert_int_equal(comparison_gate_select(&c, "backward"), ST_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slower_counts_above_the_limit_only),
        cmocka_unit_test(the_interval_says_what_is_unsure),
        cmocka_unit_test(phases_are_selected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
