/* The step in fp8: each of its products against a simulation in double that knows of tensors and recipes
 * alone, the step against float64, and what stays from step to step. Whole steps cannot be held to a
 * simulation: two that differ in the order of their sums alone are 10 % apart after two blocks, since a
 * number that ends on the other side of a middle moves by 6 or 12 % in 8 bits, and moves others. */
#include "base/i64.h"
#include "fp8_harness.h"
#include "recompute_harness.h"

/* ---- products ---- */

/* A tensor when it was quantized, in double: what is left of it when products run has been reused. */
typedef struct Simulation {
    Fp8Recipe recipe;
    double **before; /* of each tensor of the plan; owned */
    float *recent;   /* of each, with delayed: the largest number of earlier steps; owned */
    int products;
} Simulation;

/* An operand of a product, its rows along k. */
typedef struct Matrix {
    double *x; /* owned */
    int64_t rows, cols;
    bool weight;
    Float8 format;
    float recent; /* with delayed */
} Matrix;

static Status remember(Simulation *s, const ObserverEvent *event, int id, int recent)
{
    const Tensor *t = &event->plan->tensors[id];
    free(s->before[id]);
    s->before[id] = malloc((size_t)plan_elements(t) * sizeof(double));
    assert_true(s->before[id] && plan_contiguous(t) && t->dtype == DT_BF16);
    for (int64_t i = 0; i < plan_elements(t); i++)
        s->before[id][i] = element_get(event->memory[id], t->dtype, i);
    if (recent != PLAN_NONE) s->recent[id] = *(const float *)event->memory[recent];
    return ST_OK;
}

static void round_block(const Matrix *m, int64_t r0, int64_t r1, int64_t k0, int64_t k1)
{
    float amax = m->recent;
    for (int64_t r = r0; r < r1; r++) {
        for (int64_t k = k0; k < k1 && m->recent == 0; k++)
            amax = fmaxf(amax, fabsf((float)m->x[r * m->cols + k]));
    }
    if (amax == 0) return;
    const float factor = float8_largest(m->format) / amax, scale = 1 / factor;
    for (int64_t r = r0; r < r1; r++) {
        for (int64_t k = k0; k < k1; k++) {
            double *x = &m->x[r * m->cols + k];
            const uint8_t code = float8_to(m->format, (float)*x * factor);
            *x = (double)scale * (double)float8_from(m->format, code);
        }
    }
}

static void round_matrix(const Matrix *m, Fp8Recipe recipe)
{
    const bool block = recipe == FP8_RECIPE_BLOCK, row = recipe == FP8_RECIPE_ROWWISE;
    const int64_t high = row || (block && !m->weight) ? 1 : block ? 128 : m->rows;
    const int64_t wide = block ? 128 : m->cols;
    for (int64_t r = 0; r < m->rows; r += high) {
        for (int64_t k = 0; k < m->cols; k += wide)
            round_block(m, r, i64_min(r + high, m->rows), k, i64_min(k + wide, m->cols));
    }
}

static Matrix matrix(const Simulation *s, const Plan *plan, const Node *node, int input)
{
    const bool backward = node->phase == PHASE_BACKWARD;
    const bool tensorwise = s->recipe == FP8_RECIPE_CURRENT || s->recipe == FP8_RECIPE_DELAYED;
    const Fp8Source source = fp8_source(plan, plan_in_id(plan, node, input));
    const bool of_weight =
        fp8_source(plan, plan_in_id(plan, node, 0)).transposed; /* d(w) = d(y)^T x */
    const Tensor *t = &plan->tensors[source.tensor];
    const int64_t rows = plan_rows(t), cols = plan_width(t);
    Matrix m = {.x = malloc((size_t)(rows * cols) * sizeof *m.x),
                .rows = source.transposed ? cols : rows,
                .cols = source.transposed ? rows : cols,
                .weight = input == 1 && !of_weight,
                .recent = s->recent[source.tensor],
                .format = backward && input == 0 && tensorwise ? FLOAT8_E5M2 : FLOAT8_E4M3};
    assert_non_null(m.x);
    for (int64_t r = 0; r < m.rows; r++) {
        for (int64_t k = 0; k < m.cols; k++) {
            const int64_t i = source.transposed ? k * cols + r : r * cols + k;
            m.x[r * m.cols + k] = s->before[source.tensor][i];
        }
    }
    round_matrix(&m, s->recipe);
    return m;
}

static void compare_product(const Simulation *s, const ObserverEvent *event, const Node *node)
{
    const Matrix a = matrix(s, event->plan, node, 0), b = matrix(s, event->plan, node, 1);
    const int out = plan_out_id(event->plan, node, 0);
    double difference = 0, size = 0;
    assert_true(a.cols == b.cols && plan_contiguous(&event->plan->tensors[out]));
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t j = 0; j < b.rows; j++) {
            double want = 0;
            for (int64_t k = 0; k < a.cols; k++) want += a.x[i * a.cols + k] * b.x[j * b.cols + k];
            const double got =
                element_get(event->memory[out], event->plan->tensors[out].dtype, i * b.rows + j);
            difference += (got - want) * (got - want);
            size += want * want;
        }
    }
    const double error = sqrt(difference / size);
    if (!(error <= 0x1p-8)) fail_msg("%s: a product is off by %g", node->scope, error);
    free(a.x);
    free(b.x);
}

static Status watch(void *self, const ObserverEvent *event)
{
    Simulation *s = self;
    const Plan *plan = event->plan;
    const Node *node = &plan->nodes[event->node];
    if (node->op == OP_quantize)
        return remember(s, event, plan_in_id(plan, node, 0), plan_in_id(plan, node, 1));
    if (node->op != OP_scaled_matmul) return ST_OK;
    compare_product(s, event, node);
    s->products++;
    return ST_OK;
}

static void check_products(Fp8Recipe recipe, Exec exec)
{
    Config c = fp8_config(recipe);
    Step step;
    c.exec = exec;
    open_step(&step, &c, MODE_FWD_BWD, DT_F32, 2);
    const int n = step.model.plan.n_tensors;
    Simulation s = {recipe, calloc((size_t)n, sizeof *s.before),
                    calloc((size_t)n, sizeof *s.recent), 0};
    assert_true(s.before && s.recent);
    if (recipe == FP8_RECIPE_DELAYED)
        forward_backward(&step); /* the history: of the same numbers */
    ASSERT_OK(session_observe(&step.run.session, (Observer){&s, NULL, watch}));
    forward_backward(&step);
    assert_int_equal(s.products, 3 * (exec == EXEC_EAGER ? 7 : 4));
    for (int i = 0; i < n; i++) free(s.before[i]);
    free(s.before);
    free(s.recent);
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
