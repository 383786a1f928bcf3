/* The whole step of the project's own model on a GPU. */
#include "accumulate_checks.h"
#include "gpu/step_checks_cuda.h"

static void test_small(void **state)
{
    (void)state;
    const Config c = small_config();
    check_styles(&c, 0);
}

static void test_heads_of_eight(void **state)
{
    (void)state;
    Config c = small_config();
    c.model.d_model = 48;
    c.model.d_ff = 72;
    c.ctx = 19;
    check_styles(&c, 0);
}

/* Rows of a real model's width, where the kernels for aligned rows run. */
static void test_wide_rows(void **state)
{
    (void)state;
    Config c = small_config();
    c.model.d_model = 128;
    c.model.num_heads = 2;
    c.model.d_ff = 344;
    c.model.vocab = 1000;
    c.model.num_layers = 1;
    c.ctx = 33;
    c.batch = 2;
    check_styles(&c, 0);
}

/* Head and loss over chunks of rows, the last of one row; eager has whole logits all the same. */
static void test_chunks_of_logits(void **state)
{
    (void)state;
    Config c = small_config();
    c.head_rows = 16;
    check_styles(&c, 0);
    c.model.tied = true;
    check_styles(&c, 0);
}

/* The whole step as one graph gives what the phases' graphs give. */
static void check_step_graph(Config c)
{
    c.precision = PRECISION_BF16;
    c.attention = ATTENTION_FUSED;
    Step phases, whole;
    open_step_on(&phases, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    open_step_on(&whole, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    capture(&phases);
    capture(&whole);
    compare_whole_step(&whole, &phases, 4);
    close_step(&phases);
    close_step(&whole);
}

static void test_step_graph(void **state)
{
    (void)state;
    check_step_graph(small_config());
    check_step_graph(accumulate_config()); /* a graph for each micro-batch, then the optimizer's */
}

/* Micro-batches against float64 of one large batch; wide rows have vectors of gradients to add. */
static void test_micro_batches(void **state)
{
    (void)state;
    Config c = accumulate_config();
    check_styles(&c, accumulate_roundings);
    c.model.tied = true;
    c.head_rows = 5;
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    check_styles(&c, accumulate_roundings);
    c.model.d_model = 128;
    c.model.num_heads = 2;
    c.model.d_ff = 344;
    check_styles(&c, accumulate_roundings);
    check_overflow(BACKEND_cuda);
}

static void test_overflow_is_skipped(void **state)
{
    (void)state;
    Config c = small_config();
    c.precision = PRECISION_FP16;
    c.attention = ATTENTION_FUSED;
    Step s;
    open_step_on(&s, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    double *step_state = harness_host(&s.run, s.model.state);
    step_state[STATE_LOSS_SCALE] = 0x1p30;
    harness_move(&s.run, true);
    run_steps(&s, 1);
    assert_true(step_state[STATE_SKIPPED] == 1 && step_state[STATE_STEP] == 0);
    run_steps(&s, 30);
    assert_true(step_state[STATE_STEP] > 0);
    assert_true(step_state[STATE_STEP] + step_state[STATE_SKIPPED] == 31);
    close_step(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),         cmocka_unit_test(test_heads_of_eight),
        cmocka_unit_test(test_wide_rows),     cmocka_unit_test(test_chunks_of_logits),
        cmocka_unit_test(test_step_graph),    cmocka_unit_test(test_overflow_is_skipped),
        cmocka_unit_test(test_micro_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
