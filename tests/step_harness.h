/* Whole steps of a small model, and how far two of them are apart. */
#pragma once

#include "exec/init.h"
#include "op_harness.h"
#include "plan/step_state.h"

typedef struct Step {
    Model model;
    HarnessRun run;
} Step;

/* The largest relative error of one rounding in a precision's products. */
static inline double rounding_error(Precision precision)
{
    static const double errors[PRECISION_COUNT] = {[PRECISION_FP32] = 0x1p-24,
                                                   [PRECISION_TF32] = 0x1p-11,
                                                   [PRECISION_BF16] = 0x1p-8,
                                                   [PRECISION_FP16] = 0x1p-11};
    return errors[precision];
}

static inline Config small_config(void)
{
    Config c;
    config_defaults(&c);
    snprintf(c.model.size, sizeof c.model.size, "custom");
    c.model.d_model = 24;
    c.model.d_ff = 37;
    c.model.num_layers = 2;
    c.model.num_heads = 3;
    c.model.vocab = 53;
    c.ctx = 11;
    c.batch = 3;
    c.seed = 7;
    return c;
}

/* The same tokens as one batch, N times as large. */
static inline Config as_one_batch(Config c)
{
    c.batch *= c.accumulate;
    c.accumulate = 1;
    return c;
}

/* Of a model that is built; `prefer`: the implementation to take where an op has it. */
static inline void start_step_on(Step *s, BackendId backend, const char *prefer, int threads)
{
    harness_open_on(&s->run, &s->model.plan, backend, prefer, threads);
    ASSERT_OK(init_session(&s->run.session, &s->model));
    harness_move(&s->run, false);
}

static inline void open_step_on(Step *s, const Config *c, Mode mode, DType full_dtype,
                                BackendId backend, int threads)
{
    ASSERT_OK(model_build(&s->model, c, mode, full_dtype));
    start_step_on(s, backend, config_attentions[c->attention], threads);
}

static inline void open_step(Step *s, const Config *c, Mode mode, DType full_dtype, int threads)
{
    open_step_on(s, c, mode, full_dtype, BACKEND_cpu, threads);
}

static inline void run_phase(Step *s, Phase phase)
{
    ASSERT_OK(session_run(&s->run.session, phase));
    ASSERT_OK(s->run.session.api->sync(s->run.session.backend));
    harness_move(&s->run, false);
}

static inline void close_step(Step *s)
{
    harness_close(&s->run);
    model_free(&s->model);
}

static inline int64_t micro_batches_of(const Step *s)
{
    return plan_phase_runs(&s->model.plan, PHASE_FORWARD);
}

static inline double loss_of(Step *s)
{
    for (int64_t i = 0; i < micro_batches_of(s); i++) run_phase(s, PHASE_FORWARD);
    return harness_get(&s->run, s->model.loss, 0);
}

static inline void forward_backward(Step *s)
{
    for (int64_t i = 0; i < micro_batches_of(s); i++) {
        run_phase(s, PHASE_FORWARD);
        run_phase(s, PHASE_BACKWARD);
    }
}

static inline double loss_scale(const Step *s)
{
    return harness_get(&s->run, s->model.state, STATE_LOSS_SCALE);
}

static inline double tensor_size(const Step *s, int id)
{
    double sum = 0;
    for (int64_t i = 0; i < plan_elements(&s->model.plan.tensors[id]); i++) {
        sum += harness_get(&s->run, id, i) * harness_get(&s->run, id, i);
    }
    return sqrt(sum);
}

/* ||a / scale - b|| / ||b|| of tensors of two different plans; of a b of zeros (the router of a model that
 * renormalises one expert) ||a / scale||. */
static inline double tensor_error(const Step *a, int id_a, double scale, const Step *b, int id_b)
{
    const int64_t n = plan_elements(&b->model.plan.tensors[id_b]);
    double difference = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        const double y = harness_get(&b->run, id_b, i);
        const double x = harness_get(&a->run, id_a, i) / scale - y;
        difference += x * x;
        size += y * y;
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

/* The bias of k adds the same to all scores of a query, but for what RoPE makes of it: softmax
 * hardly sees it, or not at all. Its gradient is a small difference of large terms, whose rounding
 * is that of the gradient of q's bias. */
static inline bool is_key_bias(const Param *p)
{
    return strstr(p->name, ".k_bias");
}

static inline double gradient_error(const Step *got, const Step *want, int param)
{
    const Param *a = &got->model.params[param], *b = &want->model.params[param];
    const double error = tensor_error(got, a->grad, loss_scale(got), want, b->grad);
    if (!is_key_bias(b)) return error;
    return error * tensor_size(want, b->grad) / tensor_size(want, b[-1].grad);
}

static inline void compare_gradients(Step *got, Step *want, double bound, const char *what)
{
    forward_backward(got);
    forward_backward(want);
    assert_int_equal(got->model.n_params, want->model.n_params);
    for (int p = 0; p < want->model.n_params; p++) {
        const Param *a = &got->model.params[p], *b = &want->model.params[p];
        assert_string_equal(a->name, b->name);
        const double error = gradient_error(got, want, p);
        if (!(error <= bound)) fail_msg("%s: gradient of %s is off by %g", what, a->name, error);
    }
}

static inline void run_steps(Step *s, int steps)
{
    for (int i = 0; i < steps; i++) {
        forward_backward(s);
        run_phase(s, PHASE_OPTIMIZER);
    }
}

/* AdamW steps by the learning rate whatever the size of a parameter, so that rounding costs small
 * ones as much as large ones: those below 0.1 (biases, embeddings) are measured by 0.1, about the
 * size of the weights. And it makes a whole step of a gradient that is nothing but rounding: the
 * two elements that differ most are left out. */
static inline double update_error(const Step *got, const Step *want, int param)
{
    const int id_a = got->model.params[param].tensor, id_b = want->model.params[param].tensor;
    const double n = (double)plan_elements(&want->model.plan.tensors[id_b]);
    double sum = 0, most = 0, second = 0;
    for (int64_t i = 0; i < (int64_t)n; i++) {
        const double x = harness_get(&got->run, id_a, i) - harness_get(&want->run, id_b, i);
        sum += x * x;
        second = fmax(second, fmin(x * x, most));
        most = fmax(most, x * x);
    }
    const double rms = tensor_size(want, id_b) / sqrt(n);
    const double rest = sum - most - second;
    return sqrt((rest < 0 ? 0 : rest) / n) / fmax(rms, 0.1); /* NaN stays NaN */
}

static inline void compare_updates(Step *got, Step *want, double bound, const char *what)
{
    run_steps(got, 3);
    run_steps(want, 3);
    for (int p = 0; p < want->model.n_params; p++) {
        const Param *b = &want->model.params[p];
        if (is_key_bias(b)) continue; /* AdamW makes whole steps of the rounding */
        const double error = update_error(got, want, p);
        if (!(error <= bound)) fail_msg("%s: %s after 3 steps is off by %g", what, b->name, error);
    }
}

/* session_run_step() gives what the phases, run one by one, give: every bit. */
static inline void compare_whole_step(Step *whole, Step *phases, int steps)
{
    run_steps(phases, steps);
    for (int i = 0; i < steps; i++) ASSERT_OK(session_run_step(&whole->run.session));
    harness_move(&whole->run, false);
    for (int p = 0; p < phases->model.n_params; p++) {
        const int id = phases->model.params[p].tensor;
        assert_true(tensor_error(whole, id, 1, phases, id) == 0);
    }
}
