/* The whole training step: the float64 reference against central differences of its own loss, and
 * every precision, execution style and attention against that reference. */
#include "step_checks.h"

static void test_reference_against_differences(void **state)
{
    (void)state;
    const Config c = small_config();
    check_differences(&c);
}

static void test_variants(void **state)
{
    (void)state;
    check_variants(small_config(), 0);
}

/* One layer, one head, one token in a sequence, a vocabulary of two. */
static void test_smallest(void **state)
{
    (void)state;
    Config c = small_config();
    c.model.d_model = 2;
    c.model.d_ff = 1;
    c.model.num_layers = 1;
    c.model.num_heads = 1;
    c.model.vocab = 2;
    c.ctx = 2;
    c.batch = 5;
    Step want, got;
    open_step(&want, &c, MODE_TRAIN, DT_F64, 1);
    open_step(&got, &c, MODE_TRAIN, DT_F32, 2);
    compare_gradients(&got, &want, 1e-4, "smallest"); /* sums of two terms cancel */
    close_step(&want);
    close_step(&got);
}

static void test_clipping(void **state)
{
    (void)state;
    Config c = small_config();
    c.clip = 0.05;
    Step want, got;
    open_step(&want, &c, MODE_TRAIN, DT_F64, 1);
    open_step(&got, &c, MODE_TRAIN, DT_F32, 2);
    compare_updates(&got, &want, 3e-5, "clipped");
    assert_true(harness_get(&want.run, want.model.state, STATE_GRAD_FACTOR) < 0.9);
    close_step(&want);
    close_step(&got);
}

/* A loss scale that overflows fp16: steps are skipped, the scale halves, parameters stay. */
static void test_overflow_is_skipped(void **state)
{
    (void)state;
    Config c = small_config();
    c.precision = PRECISION_FP16;
    Step s;
    open_step(&s, &c, MODE_TRAIN, DT_F32, 1);
    double *step_state = s.run.session.memory[s.model.state];
    step_state[STATE_LOSS_SCALE] = 0x1p30;
    const float before = ((float *)s.run.session.memory[s.model.params[1].tensor])[0];
    run_steps(&s, 1);
    assert_true(step_state[STATE_SKIPPED] == 1 && step_state[STATE_STEP] == 0);
    assert_true(step_state[STATE_LOSS_SCALE] == 0x1p29);
    assert_true(((float *)s.run.session.memory[s.model.params[1].tensor])[0] == before);
    run_steps(&s, 30);
    assert_true(step_state[STATE_STEP] > 0);
    assert_true(step_state[STATE_STEP] + step_state[STATE_SKIPPED] == 31);
    close_step(&s);
}

/* Forward alone and forward + backward give the same numbers as the whole step. */
static void test_modes_agree(void **state)
{
    (void)state;
    const Config c = small_config();
    Step fwd, graph, both, train;
    open_step(&fwd, &c, MODE_FWD, DT_F32, 1);
    open_step(&graph, &c, MODE_FWD_GRAD, DT_F32, 1);
    open_step(&both, &c, MODE_FWD_BWD, DT_F32, 1);
    open_step(&train, &c, MODE_TRAIN, DT_F32, 1);
    const double loss = loss_of(&train);
    assert_true(loss_of(&fwd) == loss && loss_of(&graph) == loss && loss_of(&both) == loss);
    compare_gradients(&both, &train, 0, "fwd_bwd");
    close_step(&fwd);
    close_step(&graph);
    close_step(&both);
    close_step(&train);
}

static void test_threads_do_not_matter_to_start(void **state)
{
    (void)state;
    Config c = small_config();
    Step a, b;
    open_step(&a, &c, MODE_TRAIN, DT_F32, 1);
    c.precision = PRECISION_BF16;
    open_step(&b, &c, MODE_TRAIN, DT_F32, 3);
    for (int p = 0; p < a.model.n_params; p++) {
        assert_true(tensor_error(&a, a.model.params[p].tensor, 1, &b, b.model.params[p].tensor) ==
                    0);
    }
    assert_true(tensor_error(&a, a.model.tokens, 1, &b, b.model.tokens) == 0);
    assert_true(tensor_error(&a, a.model.targets, 1, &b, b.model.targets) == 0);
    close_step(&a);
    close_step(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_against_differences),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_overflow_is_skipped),
        cmocka_unit_test(test_modes_agree),
        cmocka_unit_test(test_threads_do_not_matter_to_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
