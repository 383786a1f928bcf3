/* The whole step on a GPU, in every precision, execution style and attention, against the float64
 * reference on the CPU. */
#pragma once

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
static inline void capture(Step *s)
{
    run_steps(s, 1);
    ASSERT_OK(session_capture(&s->run.session));
    ASSERT_OK(init_session(&s->run.session, &s->model));
}

/* Gradients may be off by as many roundings where that is more than the bounds. */
static inline void check(Config c, size_t i, size_t k, double roundings)
{
    char what[128];
    Step want, got;
    const Config one_batch = as_one_batch(c);
    open_step(&want, &one_batch, MODE_TRAIN, DT_F64, 1);
    c.precision = bounds[i].precision;
    c.exec = styles[k].exec;
    c.attention = styles[k].attention;
    snprintf(what, sizeof what, "%s %s %s %s", c.model.name, config_precisions[c.precision],
             config_execs[c.exec], config_attentions[c.attention]);
    open_step_on(&got, &c, MODE_TRAIN, DT_F32, BACKEND_cuda, 1);
    if (c.exec == EXEC_GRAPH) capture(&got);
    const double loss = loss_of(&got), reference = loss_of(&want);
    if (!(fabs(loss - reference) <= bounds[i].loss * reference)) {
        fail_msg("%s: loss %.9g, reference %.9g", what, loss, reference);
    }
    compare_gradients(&got, &want,
                      fmax(bounds[i].gradient, roundings * rounding_error(c.precision)), what);
    ASSERT_OK(init_session(&want.run.session, &want.model));
    ASSERT_OK(init_session(&got.run.session, &got.model));
    compare_updates(&got, &want, bounds[i].update, what);
    close_step(&want);
    close_step(&got);
}

/* cuDNN takes 16-bit heads whose width is a multiple of 8. */
static inline bool can_run(const Config *c, size_t i, size_t k)
{
    const bool wide =
        bounds[i].precision == PRECISION_FP32 || bounds[i].precision == PRECISION_TF32;
    return styles[k].attention != ATTENTION_CUDNN ||
           !(wide || model_spec_head_dim(&c->model) % 8 != 0);
}

static inline void check_styles(const Config *c, double roundings)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        for (size_t k = 0; k < sizeof styles / sizeof *styles; k++) {
            if (can_run(c, i, k)) check(*c, i, k, roundings);
        }
    }
}
