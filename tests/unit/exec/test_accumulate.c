/* Gradient accumulation: N micro-batches are one batch N times as large. */
#include "accumulate_checks.h"
#include "model/step_cost.h"
#include "poison_harness.h"
#include "small_architectures.h"
#include "step_checks.h"

/* ---- the same numbers ---- */

static void test_reference(void **state)
{
    (void)state;
    const Config c = accumulate_config();
    check_differences(&c);
}

/* Every precision, execution style and attention against float64 of one large batch. */
static void test_variants(void **state)
{
    (void)state;
    check_variants(accumulate_config(), 0);
}

/* Tied weights, biases, learned positions; logits in chunks, the last of one row; recomputation. */
static void test_architectures(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        Config c = small_architecture(i);
        Step got, want;
        c.accumulate = 2 + i % 3;
        c.head_rows = i % 2 ? CONFIG_HEAD_AUTO : 5;
        c.recompute = i % 3 ? CONFIG_RECOMPUTE_BLOCK : CONFIG_RECOMPUTE_NONE;
        const Config one_batch = as_one_batch(c);
        open_step(&got, &c, MODE_TRAIN, DT_F32, 2);
        open_step(&want, &one_batch, MODE_TRAIN, DT_F32, 2);
        const double loss = loss_of(&want);
        assert_true(fabs(loss_of(&got) - loss) <= 1e-6 * loss);
        compare_gradients(&got, &want, 1e-5, c.model.name);
        ASSERT_OK(init_session(&want.run.session, &want.model));
        ASSERT_OK(init_session(&got.run.session, &got.model));
        compare_updates(&got, &want, 3e-5, c.model.name);
        close_step(&got);
        close_step(&want);
    }
}

/* Clipping goes by the norm of the sums. */
static void test_clipping(void **state)
{
    (void)state;
    Config c = accumulate_config();
    c.clip = 0.05;
    Step got, want;
    const Config one_batch = as_one_batch(c);
    open_step(&got, &c, MODE_TRAIN, DT_F32, 2);
    open_step(&want, &one_batch, MODE_TRAIN, DT_F32, 2);
    compare_updates(&got, &want, 3e-5, "clipped");
    const double norm = harness_get(&want.run, want.model.state, STATE_SQUARED_NORM);
    assert_true(sqrt(norm) > 2 * c.clip);
    assert_true(fabs(harness_get(&got.run, got.model.state, STATE_SQUARED_NORM) - norm) <
                1e-4 * norm);
    close_step(&got);
    close_step(&want);
}

static void test_overflow(void **state)
{
    (void)state;
    check_overflow(BACKEND_cpu);
}

/* Where training does not fit, a smaller mode is measured, with all micro-batches. */
static void test_smaller_modes(void **state)
{
    (void)state;
    const Config c = accumulate_config(), one_batch = as_one_batch(c);
    for (int mode = MODE_FWD; mode < MODE_TRAIN; mode++) {
        Step got, want;
        open_step(&got, &c, (Mode)mode, DT_F32, 2);
        open_step(&want, &one_batch, (Mode)mode, DT_F32, 2);
        const double loss = loss_of(&want);
        assert_true(fabs(loss_of(&got) - loss) <= 1e-6 * loss);
        if (mode == MODE_FWD_BWD) compare_gradients(&got, &want, 1e-5, "fwd_bwd");
        close_step(&got);
        close_step(&want);
    }
}

/* session_run_step() runs them all. */
static void test_whole_step(void **state)
{
    (void)state;
    const Config c = accumulate_config();
    Step phases, whole;
    open_step(&phases, &c, MODE_TRAIN, DT_F32, 2);
    open_step(&whole, &c, MODE_TRAIN, DT_F32, 2);
    compare_whole_step(&whole, &phases, 2);
    close_step(&phases);
    close_step(&whole);
}

/* ---- work and memory ---- */

/* Products of the forward and backward pass are those of the large batch; so is the optimizer. */
static void test_cost(void **state)
{
    (void)state;
    Config c = accumulate_config();
    const Config one_batch = as_one_batch(c);
    Model model, large;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    ASSERT_OK(model_build(&large, &one_batch, MODE_TRAIN, DT_F32));
    const StepCost cost = step_cost_of(&model.plan), want = step_cost_of(&large.plan);
    assert_true(cost.step.matmul_flops == want.step.matmul_flops);
    assert_true(cost.phase[PHASE_OPTIMIZER].flops == want.phase[PHASE_OPTIMIZER].flops);
    /* two additions to each gradient, and to the loss */
    double added = 0;
    for (int i = 0; i < model.plan.n_nodes; i++) {
        if (model.plan.nodes[i].op == OP_accumulate)
            added += step_cost_of_node(&model.plan, &model.plan.nodes[i]).flops;
    }
    assert_true(fabs(added - 2.0 * (double)(model.n_elements + 1)) < 1e-6 * added);
    model_free(&model);
    model_free(&large);
}

/* Sums are fp32 whatever the precision; gradients themselves are gone as soon as they are added. */
static void test_memory(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16};
    Config c = accumulate_config();
    c.model.num_layers = 6;
    for (int p = 0; p < 2; p++) {
        Step s;
        c.precision = precisions[p];
        open_step(&s, &c, MODE_TRAIN, DT_F32, 2);
        const MemPlan *mem = &s.run.binding.mem;
        const size_t sums = mem->region[TK_GRAD_SUM], least = 4 * (size_t)s.model.n_elements;
        assert_true(sums >= least);
        assert_true(sums < least + (size_t)s.model.n_groups * MEM_PLAN_ALIGN);
        for (int g = 0; g < s.model.n_groups; g++)
            assert_int_equal(s.model.plan.tensors[s.model.groups[g].grad].dtype, DT_F32);
        const int last = s.model.plan.n_nodes - 1; /* of the optimizer */
        size_t *live = NULL;
        ASSERT_OK(mem_plan_timeline(mem, &s.model.plan, s.run.binding.workspace, &live));
        assert_true(live[(size_t)last * TK_COUNT + TK_GRAD] == 0);
        assert_true(live[(size_t)last * TK_COUNT + TK_GRAD_SUM] == sums);
        free(live);
        close_step(&s);
    }
}

/* Dead memory is poisoned, and nothing breaks; a life cut short shows. */
static void test_poisoned(void **state)
{
    (void)state;
    Config c = accumulate_config();
    c.model.num_layers = 3;
    for (int i = 0; i < 8; i++) {
        c.precision = i & 1 ? PRECISION_BF16 : PRECISION_FP32;
        c.exec = i & 2 ? EXEC_EAGER : EXEC_FUSED;
        c.attention = i & 2 ? ATTENTION_NAIVE : ATTENTION_FLASH;
        c.recompute = i & 4 ? CONFIG_RECOMPUTE_BLOCK : CONFIG_RECOMPUTE_NONE;
        c.head_rows = i & 4 ? 5 : CONFIG_HEAD_AUTO;
        poison_check(&c, BACKEND_cpu);
    }
    c.model.num_layers = 1;
    c.exec = EXEC_FUSED;
    c.attention = ATTENTION_FLASH;
    assert_true(poison_check_cut(&c, BACKEND_cpu, 1) > 20);
}

/* Without --accumulate, or with 1, a plan is as it ever was. */
static void test_one(void **state)
{
    (void)state;
    Config c = small_config();
    Model model;
    ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
    assert_int_equal(plan_phase_runs(&model.plan, PHASE_BACKWARD), 1);
    assert_int_equal(model.tokens, model.micro_tokens);
    for (int i = 0; i < model.plan.n_nodes; i++) {
        const OpKind op = model.plan.nodes[i].op;
        assert_true(op != OP_accumulate && op != OP_micro_batch);
    }
    model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),     cmocka_unit_test(test_variants),
        cmocka_unit_test(test_architectures), cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_overflow),      cmocka_unit_test(test_whole_step),
        cmocka_unit_test(test_cost),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_poisoned),      cmocka_unit_test(test_one),
        cmocka_unit_test(test_smaller_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
