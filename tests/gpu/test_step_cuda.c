/* The whole step on a GPU, in every precision, execution style and attention, against the float64
 * reference on the CPU. */
#include "step_harness.h"

static const struct {
    Precision precision;
    double loss, gradient, update;
} bounds[] = {{PRECISION_FP32, 1e-6, 1e-5, 3e-5},
              {PRECISION_TF32, 1e-3, 5e-3, 5e-3},
              {PRECISION_BF16, 1e-2, 3e-2, 1e-2},
              {PRECISION_FP16, 1e-3, 1e-2, 5e-3}};

static const struct {
    Exec exec;
    Attention attention;
} styles[] = {{EXEC_EAGER, ATTENTION_NAIVE}, {EXEC_FUSED, ATTENTION_NAIVE},
              {EXEC_FUSED, ATTENTION_FUSED}, {EXEC_FUSED, ATTENTION_CUDNN},
              {EXEC_GRAPH, ATTENTION_FUSED}, {EXEC_GRAPH, ATTENTION_CUDNN},
              {EXEC_FUSED, ATTENTION_FLASH}, {EXEC_GRAPH, ATTENTION_FLASH}};

/* Captured after one step as `bench` does; the start is then made again. */
static void capture(Step *s)
{
    run_steps(s, 1);
    ASSERT_OK(session_capture(&s->run.session));
    ASSERT_OK(init_session(&s->run.session, &s->model));
}

static void check(Config c, size_t i, size_t k)
{
    char what[64];
    Step want, got;
    c.precision = PRECISION_FP32;
    open_step(&want, &c, MODE_TRAIN, DT_F64, 1);
    c.precision = bounds[i].precision;
    c.exec = styles[k].exec;
    c.attention = styles[k].attention;
    snprintf(what, sizeof what, "%s %s %s", config_precisions[c.precision], config_execs[c.exec],
             config_attentions[c.attention]);
    open_step_on(&got, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    if (c.exec == EXEC_GRAPH) capture(&got);
    const double loss = loss_of(&got), reference = loss_of(&want);
    if (!(fabs(loss - reference) <= bounds[i].loss * reference)) {
        fail_msg("%s: loss %.9g, reference %.9g", what, loss, reference);
    }
    compare_gradients(&got, &want, bounds[i].gradient, what);
    ASSERT_OK(init_session(&want.run.session, &want.model));
    ASSERT_OK(init_session(&got.run.session, &got.model));
    compare_updates(&got, &want, bounds[i].update, what);
    close_step(&want);
    close_step(&got);
}

/* cuDNN takes 16-bit heads whose width is a multiple of 8. */
static void check_styles(const Config *c)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        for (size_t k = 0; k < sizeof styles / sizeof *styles; k++) {
            const bool wide =
                bounds[i].precision == PRECISION_FP32 || bounds[i].precision == PRECISION_TF32;
            const bool odd = c->model.d_model / c->model.num_heads % 8 != 0;
            if (styles[k].attention == ATTENTION_CUDNN && (wide || odd)) continue;
            check(*c, i, k);
        }
    }
}

static void test_small(void **state)
{
    (void)state;
    const Config c = small_config();
    check_styles(&c);
}

static void test_heads_of_eight(void **state)
{
    (void)state;
    Config c = small_config();
    c.model.d_model = 48;
    c.model.d_ff = 72;
    c.ctx = 19;
    check_styles(&c);
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
    check_styles(&c);
}

/* The whole step as one graph gives what the phases' graphs give. */
static void test_step_graph(void **state)
{
    (void)state;
    Config c = small_config();
    c.precision = PRECISION_BF16;
    c.attention = ATTENTION_FUSED;
    Step phases, whole;
    open_step_on(&phases, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    open_step_on(&whole, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    capture(&phases);
    capture(&whole);
    run_steps(&phases, 4);
    for (int i = 0; i < 4; i++) ASSERT_OK(session_run_step(&whole.run.session));
    harness_move(&whole.run, false);
    for (int p = 0; p < phases.model.n_params; p++) {
        const int id = phases.model.params[p].tensor;
        assert_true(tensor_error(&whole, id, 1, &phases, id) == 0);
    }
    close_step(&phases);
    close_step(&whole);
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
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_heads_of_eight),
        cmocka_unit_test(test_wide_rows),
        cmocka_unit_test(test_step_graph),
        cmocka_unit_test(test_overflow_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
