/* The float64 reference against differences of its own loss, the errors of every precision against it,
 * and the dtypes of a plan. */
#include "bench/record/component_dtypes.h"
#include "bench/study/step_error.h"
#include "config/model_file.h"
#include "fp8_harness.h"

static const Placement on_cpu = {.backend = BACKEND_cpu, .threads = 2, .name = "cpu"};

/* The whole tensor of a gradient, scaled by h and added to the weights, must move the loss as the gradient
 * says: one direction for each parameter. */
static void test_reference_is_its_own_derivative(void **state)
{
    (void)state;
    const Config c = small_config();
    ReferenceStep r;
    Step s;
    ASSERT_OK(reference_step_run(&r, &c, 2));
    open_step(&s, &c, MODE_FWD_BWD, DT_F64, 1);
    assert_true(fabs(loss_of(&s) - r.loss) < 1e-14);
    const double *grad = r.grads;
    for (int p = 0; p < s.model.n_params; p++) {
        const Param *param = &s.model.params[p];
        const int64_t n = plan_elements(&s.model.plan.tensors[param->tensor]);
        double *data = s.run.session.memory[param->tensor], squares = 0;
        assert_string_equal(param->name, r.model.params[p].name);
        for (int64_t i = 0; i < n; i++) squares += grad[i] * grad[i];
        const double h = 1e-5 / sqrt(squares);
        for (int64_t i = 0; i < n; i++) data[i] += h * grad[i];
        const double up = loss_of(&s);
        for (int64_t i = 0; i < n; i++) data[i] -= 2 * h * grad[i];
        const double down = loss_of(&s);
        for (int64_t i = 0; i < n; i++) data[i] += h * grad[i];
        const double slope = (up - down) / (2 * h);
        if (!(fabs(slope - squares) <= 1e-7 * (1 + squares)))
            fail_msg("%s: %.12g, differences give %.12g", param->name, squares, slope);
        grad += n;
    }
    close_step(&s);
    reference_step_free(&r);
}

static StepError error_of(const ReferenceStep *r, Precision precision, double loss_scale)
{
    Config c = small_config();
    StepError e;
    c.precision = precision;
    c.loss_scale = loss_scale;
    ASSERT_OK(step_error_measure(&e, &c, &on_cpu, r));
    return e;
}

static void test_errors_are_in_order(void **state)
{
    (void)state;
    const Config c = small_config();
    ReferenceStep r;
    ASSERT_OK(reference_step_run(&r, &c, 1));
    StepError fp32 = error_of(&r, PRECISION_FP32, CONFIG_SCALE_DYNAMIC);
    StepError bf16 = error_of(&r, PRECISION_BF16, CONFIG_SCALE_DYNAMIC);
    StepError fp16 = error_of(&r, PRECISION_FP16, CONFIG_SCALE_DYNAMIC);
    assert_true(fp32.gradients > 0 && fp32.gradients < 1e-5 && fp32.loss < 1e-6);
    assert_true(fp16.gradients > 10 * fp32.gradients && bf16.gradients > 2 * fp16.gradients);
    assert_true(fp16.logits > 10 * fp32.logits && bf16.logits > 2 * fp16.logits);
    assert_true(bf16.gradients < 3e-2 && fp16.gradients < 1e-2);
    assert_int_equal(fp32.n_grads, r.model.n_params);
    for (int i = 0; i < fp32.n_grads; i++) {
        assert_true(fp32.grads[i].error < 1e-5);
        assert_int_equal(fp32.grads[i].nonfinite, 0);
    }
    assert_int_equal(fp32.backward.elements, 0); /* nothing in 16 bits */
    assert_true(bf16.backward.elements > 0 && bf16.backward.nonfinite == 0);
    step_error_free(&fp32);
    step_error_free(&bf16);
    step_error_free(&fp16);
    reference_step_free(&r);
}

/* Taken apart, the loss is computed in the memory of the logits: they must have been seen before. */
static void test_eager(void **state)
{
    (void)state;
    Config c = small_config();
    ReferenceStep r;
    StepError e;
    ASSERT_OK(reference_step_run(&r, &c, 1));
    c.exec = EXEC_EAGER;
    ASSERT_OK(step_error_measure(&e, &c, &on_cpu, &r));
    assert_true(e.loss < 1e-6 && e.logits > 0 && e.logits < 1e-5 && e.gradients < 1e-5);
    step_error_free(&e);
    reference_step_free(&r);
}

static StepError error_with(const ReferenceStep *r, int64_t rows, Precision precision)
{
    Config c = small_config();
    StepError e;
    c.precision = precision;
    c.head_rows = rows;
    ASSERT_OK(step_error_measure(&e, &c, &on_cpu, r));
    return e;
}

static double error_of_head(const StepError *e)
{
    int i = 0;
    while (strcmp(e->grads[i].name, "lm_head") != 0) i++;
    return e->grads[i].error;
}

/* As the step runs: the gradient of the head's weight is rounded once for each chunk. Everything else is
 * compared and counted as of whole logits. */
static void test_chunks(void **state)
{
    (void)state;
    const Config c = small_config();
    ReferenceStep r;
    ASSERT_OK(reference_step_run(&r, &c, 1));
    StepError whole = error_with(&r, CONFIG_HEAD_WHOLE, PRECISION_BF16);
    StepError chunks = error_with(&r, 4, PRECISION_BF16);
    assert_true(error_of_head(&chunks) > 1.1 * error_of_head(&whole));
    assert_true(error_of_head(&chunks) < 3e-2);
    assert_true(fabs(chunks.logits - whole.logits) < 1e-3 * whole.logits);
    assert_int_equal(chunks.backward.elements, whole.backward.elements);
    step_error_free(&whole);
    step_error_free(&chunks);
    reference_step_free(&r);
}

/* Every operand is counted once; without scales most gradients would be lost. */
static void test_fp8(void **state)
{
    (void)state;
    Config c = fp8_config(FP8_RECIPE_CURRENT), plain = c;
    const int64_t tokens = c.batch * c.ctx, C = c.model.d_model, F = c.model.d_ff;
    const int64_t layers = c.model.num_layers;
    ReferenceStep r;
    StepError bf16;
    plain.precision = PRECISION_BF16;
    ASSERT_OK(reference_step_run(&r, &c, 1));
    ASSERT_OK(step_error_measure(&bf16, &plain, &on_cpu, &r));
    assert_int_equal(bf16.operands[QUANTIZE_WEIGHTS].elements, 0);
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        StepError e;
        c.fp8_recipe = (Fp8Recipe)recipe;
        ASSERT_OK(step_error_measure(&e, &c, &on_cpu, &r));
        const StepErrorOperands *weights = &e.operands[QUANTIZE_WEIGHTS];
        const StepErrorOperands *gradients = &e.operands[QUANTIZE_GRADIENTS];
        assert_int_equal(weights->elements, layers * (4 * C * C + 3 * C * F));
        const int64_t all = layers * tokens * (5 * C + 2 * F); /* dq of first tokens is 0 */
        assert_in_range(gradients->elements, all - all / 50, all);
        assert_true(gradients->plain_underflow > 100 * gradients->underflow);
        assert_true(weights->underflow < weights->elements / 1000 && weights->saturated == 0);
        assert_true(recipe == FP8_RECIPE_DELAYED || gradients->saturated == 0);
        assert_true(e.gradients > 3 * bf16.gradients && e.gradients < 0.2);
        assert_true(e.logits > 3 * bf16.logits && e.logits < 0.1);
        step_error_free(&e);
    }
    step_error_free(&bf16);
    reference_step_free(&r);
}

/* Rows of logits that lie apart are counted, too: three logits more are so many gradients more. */
static void test_counted_elements(void **state)
{
    (void)state;
    Config c = small_config();
    int64_t elements[2];
    for (int i = 0; i < 2; i++) {
        ReferenceStep r;
        StepError e;
        c.precision = PRECISION_BF16;
        c.model.vocab = i ? 56 : 53;
        ASSERT_OK(reference_step_run(&r, &c, 1));
        ASSERT_OK(step_error_measure(&e, &c, &on_cpu, &r));
        elements[i] = e.backward.elements;
        step_error_free(&e);
        reference_step_free(&r);
    }
    assert_int_equal(elements[1] - elements[0], 3 * (c.batch * c.ctx + c.model.d_model));
}

/* Without a scale small gradients fall below the normal numbers; with one that is too large they overflow,
 * and a dynamic one comes down until they do not. */
static void test_both_ends_of_fp16(void **state)
{
    (void)state;
    const Config c = small_config();
    ReferenceStep r;
    ASSERT_OK(reference_step_run(&r, &c, 1));
    StepError scaled = error_of(&r, PRECISION_FP16, CONFIG_SCALE_DYNAMIC);
    StepError plain = error_of(&r, PRECISION_FP16, CONFIG_SCALE_NONE);
    StepError large = error_of(&r, PRECISION_FP16, 0x1p40);
    assert_true(plain.loss_scale == 1 && scaled.loss_scale > 1);
    assert_true(plain.backward.subnormal > 10 * scaled.backward.subnormal + 10);
    int64_t nonfinite = 0;
    for (int i = 0; i < large.n_grads; i++) nonfinite += large.grads[i].nonfinite;
    assert_true(nonfinite > 0 && large.backward.nonfinite > 0 && !isfinite(large.gradients));
    assert_true(scaled.backward.nonfinite == 0 && isfinite(scaled.gradients));
    step_error_free(&scaled);
    step_error_free(&plain);
    step_error_free(&large);
    reference_step_free(&r);
}

/* A model of a file has no other --size. */
static void test_no_room_for_the_reference(void **state)
{
    (void)state;
    Config c = small_config();
    c.batch = 4096;
    c.ctx = 1 << 16;
    c.model.vocab = 1 << 16;
    for (int file = 0; file < 2; file++) {
        ReferenceStep r;
        if (file) assert_int_equal(model_file_load(&c.model, "qwen3-0.6b"), ST_OK);
        if (file) c.ctx = 40960;
        assert_int_equal(reference_step_run(&r, &c, 1), ST_NO_MEMORY);
        assert_non_null(strstr(status_message(), file ? "smaller --num-layers" : "smaller --size"));
        reference_step_free(&r);
    }
}

static void expect_dtype(const Model *m, Component component, const char *expected)
{
    const ComponentText text = component_dtypes_of(m, component);
    if (strcmp(text.s, expected) != 0)
        fail_msg("%s: %s, not %s", component_dtypes_names[component], text.s, expected);
}

static void test_dtypes(void **state)
{
    (void)state;
    static const Exec execs[] = {EXEC_FUSED, EXEC_EAGER};
    for (int e = 0; e < 2; e++) {
        const bool eager = execs[e] == EXEC_EAGER;
        Config c = small_config();
        Model m;
        c.precision = PRECISION_BF16;
        c.exec = execs[e];
        c.attention = eager ? ATTENTION_NAIVE : ATTENTION_FUSED;
        ASSERT_OK(model_build(&m, &c, MODE_TRAIN, DT_F32));
        expect_dtype(&m, COMPONENT_PARAMETERS, eager ? "f32" : "bf16");
        expect_dtype(&m, COMPONENT_MASTERS, eager ? "-" : "bf16 and low16");
        expect_dtype(&m, COMPONENT_NORM_INPUT, "f32");
        expect_dtype(&m, COMPONENT_NORM_INSIDE, "f32");
        expect_dtype(&m, COMPONENT_NORM_OUTPUT, "bf16");
        expect_dtype(&m, COMPONENT_LINEAR, "bf16");
        expect_dtype(&m, COMPONENT_FEED_FORWARD, "bf16");
        expect_dtype(&m, COMPONENT_SCORES, "bf16");
        expect_dtype(&m, COMPONENT_ATTENTION, "bf16");
        expect_dtype(&m, COMPONENT_LOGITS, "bf16");
        expect_dtype(&m, COMPONENT_LOSS, "f32");
        expect_dtype(&m, COMPONENT_LOGIT_GRADIENTS, "bf16");
        expect_dtype(&m, COMPONENT_NORM_GRADIENTS, "f32");
        expect_dtype(&m, COMPONENT_MOMENTS, "f32");
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_is_its_own_derivative),
        cmocka_unit_test(test_errors_are_in_order),
        cmocka_unit_test(test_eager),
        cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_counted_elements),
        cmocka_unit_test(test_both_ends_of_fp16),
        cmocka_unit_test(test_no_room_for_the_reference),
        cmocka_unit_test(test_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
