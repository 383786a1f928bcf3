/* Every product of a step in fp8, held to a simulation in double that knows of tensors and recipes alone,
 * while the step runs on any device. Whole steps cannot be held to a simulation: two that differ in the
 * order of their sums alone are 10 % apart after two blocks, since a number that ends on the other side of
 * a middle moves by 6 or 12 % in 8 bits, and moves others. */
#pragma once

#include "base/i64.h"
#include "fp8_harness.h"

/* A tensor when it was quantized, in double: what is left of it when products run has been reused. */
typedef struct Simulation {
    Session *session;
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

/* A tensor as it is now, in double; the caller frees it. */
static inline double *tensor_now(const Simulation *s, int id)
{
    const Tensor *t = &s->session->plan->tensors[id];
    char *bytes = malloc(plan_bytes(t));
    double *x = malloc((size_t)plan_elements(t) * sizeof *x);
    assert_true(bytes && x && plan_contiguous(t));
    ASSERT_OK(s->session->api->sync(s->session->backend));
    ASSERT_OK(session_download(s->session, id, bytes));
    for (int64_t i = 0; i < plan_elements(t); i++) x[i] = element_get(bytes, t->dtype, i);
    free(bytes);
    return x;
}

static inline Status remember(Simulation *s, const Plan *plan, int id, int recent)
{
    assert_int_equal(plan->tensors[id].dtype, DT_BF16);
    free(s->before[id]);
    s->before[id] = tensor_now(s, id);
    if (recent == PLAN_NONE) return ST_OK;
    double *now = tensor_now(s, recent);
    s->recent[id] = (float)*now;
    free(now);
    return ST_OK;
}

static inline void round_block(const Matrix *m, int64_t r0, int64_t r1, int64_t k0, int64_t k1)
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

static inline void round_matrix(const Matrix *m, Fp8Recipe recipe)
{
    const bool block = recipe == FP8_RECIPE_BLOCK, row = recipe == FP8_RECIPE_ROWWISE;
    const int64_t high = row || (block && !m->weight) ? 1 : block ? 128 : m->rows;
    const int64_t wide = block ? 128 : m->cols;
    for (int64_t r = 0; r < m->rows; r += high) {
        for (int64_t k = 0; k < m->cols; k += wide)
            round_block(m, r, i64_min(r + high, m->rows), k, i64_min(k + wide, m->cols));
    }
}

static inline Matrix matrix(const Simulation *s, const Plan *plan, const Node *node, int input)
{
    const bool backward = node->phase == PHASE_BACKWARD && !node->recomputed;
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

static inline void compare_product(const Simulation *s, const ObserverEvent *event,
                                   const Node *node)
{
    const Matrix a = matrix(s, event->plan, node, 0), b = matrix(s, event->plan, node, 1);
    double *got = tensor_now(s, plan_out_id(event->plan, node, 0));
    double difference = 0, size = 0;
    assert_true(a.cols == b.cols);
    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t j = 0; j < b.rows; j++) {
            double want = 0;
            for (int64_t k = 0; k < a.cols; k++) want += a.x[i * a.cols + k] * b.x[j * b.cols + k];
            const double off = got[i * b.rows + j] - want;
            difference += off * off;
            size += want * want;
        }
    }
    const double error = sqrt(difference / size);
    if (!(error <= 0x1p-8)) fail_msg("%s: a product is off by %g", node->scope, error);
    free(got);
    free(a.x);
    free(b.x);
}

static inline Status watch(void *self, const ObserverEvent *event)
{
    Simulation *s = self;
    const Plan *plan = event->plan;
    const Node *node = &plan->nodes[event->node];
    if (node->op == OP_quantize)
        return remember(s, plan, plan_in_id(plan, node, 0), plan_in_id(plan, node, 1));
    if (node->op != OP_scaled_matmul) return ST_OK;
    compare_product(s, event, node);
    s->products++;
    return ST_OK;
}

/* The products of a step that is open. With the recipe `delayed` the history has numbers already. */
static inline void check_step_products(Step *step, Fp8Recipe recipe, int layers)
{
    const int n = step->model.plan.n_tensors;
    const bool eager = step->model.config.exec == EXEC_EAGER;
    Simulation s = {&step->run.session, recipe, calloc((size_t)n, sizeof *s.before),
                    calloc((size_t)n, sizeof *s.recent), 0};
    assert_true(s.before && s.recent);
    ASSERT_OK(session_observe(&step->run.session, (Observer){&s, NULL, watch}));
    forward_backward(step);
    assert_int_equal(s.products, layers * 3 * (eager ? 7 : 4));
    for (int i = 0; i < n; i++) free(s.before[i]);
    free(s.before);
    free(s.recent);
}
