/* The step in fp8: each of its products against a simulation, the step against float64, and what stays from
 * step to step. */
#include "fp8_products.h"
#include "recompute_harness.h"

/* ---- products ---- */

static void check_products(Fp8Recipe recipe, Exec exec)
{
    Config c = fp8_config(recipe);
    Step step;
    c.exec = exec;
    open_step(&step, &c, MODE_FWD_BWD, DT_F32, 2);
    if (recipe == FP8_RECIPE_DELAYED)
        forward_backward(&step); /* the history: of the same numbers */
    check_step_products(&step, recipe, 1);
    close_step(&step);
}

static void test_products(void **state)
{
    (void)state;
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++)
        check_products((Fp8Recipe)recipe, EXEC_FUSED);
    check_products(FP8_RECIPE_BLOCK, EXEC_EAGER);
}

/* ---- the step ---- */

/* bf16 is 0.01 away from float64, fp8 0.1; a wrong operand or scale is 1 or more. */
static void test_against_float64(void **state)
{
    (void)state;
    for (int i = 0; i < FP8_RECIPE_COUNT; i++) {
        Config c = fp8_config((Fp8Recipe)i), plain = c;
        Step want, got;
        c.exec = plain.exec = i % 2 ? EXEC_EAGER : EXEC_FUSED;
        plain.precision = PRECISION_FP32;
        open_step(&want, &plain, MODE_FWD_BWD, DT_F64, 1);
        open_step(&got, &c, MODE_FWD_BWD, DT_F32, 2);
        if (c.fp8_recipe == FP8_RECIPE_DELAYED) forward_backward(&got);
        compare_gradients(&got, &want, 0.3, config_fp8_recipes[c.fp8_recipe]);
        close_step(&want);
        close_step(&got);
    }
}

static void test_recomputed_bits(void **state)
{
    (void)state;
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        Config c = fp8_config((Fp8Recipe)recipe);
        c.model.num_layers = 2;
        c.batch = 3;
        c.recompute = 1;
        c.exec = recipe % 2 ? EXEC_FUSED : EXEC_EAGER;
        recompute_check_bits(&c, BACKEND_cpu);
    }
}

static void repeat_tokens(Step *s, const Step *one)
{
    const int from[] = {one->model.tokens, one->model.targets};
    const int to[] = {s->model.tokens, s->model.targets};
    for (int i = 0; i < 2; i++) {
        const size_t bytes = plan_bytes(&one->model.plan.tensors[from[i]]);
        char *all = s->run.session.memory[to[i]];
        for (int64_t m = 0; m < micro_batches_of(s); m++)
            memcpy(all + (size_t)m * bytes, one->run.session.memory[from[i]], bytes);
    }
}

/* Two micro-batches of the same tokens: gradients are halves of those of one, which scales follow exactly. */
static void test_accumulated_bits(void **state)
{
    (void)state;
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        if (recipe == FP8_RECIPE_DELAYED) continue; /* its first step has scale 1 */
        Config c = fp8_config((Fp8Recipe)recipe);
        Step one, two;
        open_step(&one, &c, MODE_TRAIN, DT_F32, 2);
        c.accumulate = 2;
        open_step(&two, &c, MODE_TRAIN, DT_F32, 2);
        repeat_tokens(&two, &one);
        compare_gradients(&two, &one, 0, config_fp8_recipes[recipe]);
        close_step(&one);
        close_step(&two);
    }
}

/* ---- from step to step ---- */

static float *floats(const Step *s, int tensor)
{
    return s->run.session.memory[tensor];
}

static void test_history(void **state)
{
    (void)state;
    enum { STEPS = 16 };
    Config c = fp8_config(FP8_RECIPE_DELAYED);
    Step s;
    c.batch = 1;
    open_step(&s, &c, MODE_TRAIN, DT_F32, 1);
    const Model *m = &s.model;
    const int64_t n = plan_elements(&m->plan.tensors[m->fp8.amax]);
    const float *recent = floats(&s, m->fp8.recent), *history = floats(&s, m->fp8.history);
    assert_true(n > 0);
    for (int64_t i = 0; i < n; i++) assert_true(recent[i] == 0);
    run_steps(&s, 1);
    for (int64_t i = 0; i < n; i++) {
        assert_true(recent[i] > 0 && floats(&s, m->fp8.amax)[i] == 0);
        assert_true(history[STEPS * i] == recent[i] && history[STEPS * i + 1] == 0);
    }
    run_steps(&s, 16);
    for (int64_t i = 0; i < n; i++) {
        float largest = 0;
        for (int k = 0; k < STEPS; k++) {
            assert_true(history[STEPS * i + k] > 0);
            largest = fmaxf(largest, history[STEPS * i + k]);
        }
        assert_true(recent[i] == largest);
    }
    close_step(&s);
}

/* A gradient that overflows: the step is skipped, nothing of it enters the history. */
static void test_infinity_is_skipped(void **state)
{
    (void)state;
    for (int recipe = 0; recipe < FP8_RECIPE_COUNT; recipe++) {
        Config c = fp8_config((Fp8Recipe)recipe);
        Step s;
        c.batch = 1;
        c.clip = recipe % 2 ? 1 : 0; /* with and without a norm of gradients */
        open_step(&s, &c, MODE_TRAIN, DT_F32, 1);
        double *step = s.run.session.memory[s.model.state];
        const float *parameters = floats(&s, s.model.params[0].tensor);
        run_steps(&s, 1);
        const float before = parameters[0];
        step[STATE_LOSS_SCALE] = 1e40;
        run_steps(&s, 1);
        assert_true(step[STATE_STEP] == 1 && step[STATE_SKIPPED] == 1 && parameters[0] == before);
        step[STATE_LOSS_SCALE] = 1;
        run_steps(&s, 3);
        assert_true(step[STATE_STEP] == 4 && step[STATE_SKIPPED] == 1 && isfinite(loss_of(&s)));
        close_step(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),        cmocka_unit_test(test_against_float64),
        cmocka_unit_test(test_recomputed_bits), cmocka_unit_test(test_accumulated_bits),
        cmocka_unit_test(test_history),         cmocka_unit_test(test_infinity_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
