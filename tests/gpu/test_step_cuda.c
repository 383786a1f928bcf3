/* The whole step of the project's own model on a GPU. */
#include "accumulate_checks.h"
#include "bench/limits/placement.h"
#include "fp8_products.h"
#include "gpu/step_checks_cuda.h"
#include "model/transform_fp8_fuse.h"
#include "recompute_harness.h"

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

/* ---- fp8 ---- */

static void check_fp8_products(const Config *c)
{
    Step step;
    open_step_on(&step, c, MODE_FWD_BWD, DT_F32, BACKEND_cuda, 1);
    if (c->fp8_recipe == FP8_RECIPE_DELAYED)
        forward_backward(&step); /* the history: of the same numbers */
    check_step_products(&step, c->fp8_recipe, (int)c->model.num_layers);
    close_step(&step);
}

/* bf16 is 0.01 away from float64, fp8 0.1; a wrong operand or scale is 1 or more. No closer: two steps
 * that differ in the order of their sums alone are as far apart (tests/fp8_products.h). */
static void check_fp8_numbers(const Config *c)
{
    Config plain = *c;
    Step want, got;
    plain.precision = PRECISION_FP32;
    plain.exec = EXEC_FUSED;
    plain.attention = ATTENTION_AUTO;
    open_step(&want, &plain, MODE_TRAIN, DT_F64, 1);
    open_step_on(&got, c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    if (c->exec == EXEC_GRAPH) capture(&got);
    if (c->fp8_recipe == FP8_RECIPE_DELAYED) { /* the sizes of these numbers; nothing moves yet */
        harness_move(&got.run, false);
        ((double *)harness_host(&got.run, got.model.state))[STATE_LR] = 0;
        harness_move(&got.run, true);
        run_steps(&got, 1);
    }
    const double loss = loss_of(&got), reference = loss_of(&want);
    if (!(fabs(loss - reference) <= 0.02 * reference))
        fail_msg("fp8 %s %s: loss %.9g, reference %.9g", config_fp8_recipes[c->fp8_recipe],
                 config_execs[c->exec], loss, reference);
    compare_gradients(&got, &want, 0.3, config_fp8_recipes[c->fp8_recipe]);
    close_step(&want);
    close_step(&got);
}

/* Node by node twice, and as a graph: every bit. */
static void check_fp8_bits(const Config *c)
{
    for (int graph = 0; graph < 2; graph++) {
        Config other = *c;
        Step one, two;
        other.exec = graph ? EXEC_GRAPH : c->exec;
        open_step_on(&one, c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
        open_step_on(&two, &other, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
        if (graph) capture(&two);
        compare_whole_step(&two, &one, 3);
        close_step(&one);
        close_step(&two);
    }
}

/* What quantizes itself: the bits of nodes apart. */
static void check_fp8_fused(const Config *c)
{
    Step fused, apart;
    ASSERT_OK(model_build(&fused.model, c, MODE_TRAIN, DT_F32));
    const int before = fused.model.plan.n_nodes;
    ASSERT_OK(transform_fp8_fuse(&fused.model.plan));
    assert_int_equal(before - fused.model.plan.n_nodes, 3 * c->model.num_layers);
    start_step_on(&fused, BACKEND_cuda, config_attentions[c->attention], 1);
    open_step_on(&apart, c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    if (c->exec == EXEC_GRAPH) capture(&fused);
    compare_whole_step(&fused, &apart, 3);
    close_step(&fused);
    close_step(&apart);
}

/* Chips before 8.9 multiply no 8-bit floats, those after 9.0 none with a scale for each row or block. */
static void test_fp8(void **state)
{
    (void)state;
    const int capability = backend_api(BACKEND_cuda)->capability(0);
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        Config c = fp8_config((Fp8Recipe)recipe);
        if (placement_check_gpu(&c, capability) != ST_OK) {
            assert_int_not_equal(capability, 90);
            continue;
        }
        c.attention = ATTENTION_NAIVE;
        c.exec = EXEC_EAGER;
        check_fp8_products(&c);
        check_fp8_numbers(&c);
        c.attention = ATTENTION_FUSED;
        c.exec = EXEC_GRAPH;
        check_fp8_numbers(&c);
        c.exec = EXEC_FUSED;
        check_fp8_products(&c);
        check_fp8_numbers(&c);
        check_fp8_bits(&c);
        for (int graph = 0; c.fp8_recipe == FP8_RECIPE_DELAYED && graph < 2; graph++) {
            c.exec = graph ? EXEC_GRAPH : EXEC_FUSED;
            check_fp8_fused(&c);
        }
        c.exec = EXEC_FUSED;
        c.model.num_layers = 2;
        c.recompute = 1;
        recompute_check_bits(&c, BACKEND_cuda);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),         cmocka_unit_test(test_heads_of_eight),
        cmocka_unit_test(test_wide_rows),     cmocka_unit_test(test_chunks_of_logits),
        cmocka_unit_test(test_step_graph),    cmocka_unit_test(test_overflow_is_skipped),
        cmocka_unit_test(test_micro_batches), cmocka_unit_test(test_fp8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
