/* What must hold of the whole step of a model: the float64 reference against central differences of
 * its own loss, and every precision, execution style and attention against that reference. */
#pragma once

#include "step_harness.h"

/* Three elements of every parameter. */
static inline void check_differences(const Config *c)
{
    Step s;
    open_step(&s, c, MODE_TRAIN, DT_F64, 1);
    for (int p = 0; p < s.model.n_params; p++) {
        const Param *param = &s.model.params[p];
        double *data = s.run.session.memory[param->tensor];
        const int64_t n = plan_elements(&s.model.plan.tensors[param->tensor]);
        for (int k = 0; k < 3; k++) {
            const int64_t i = (int64_t)(harness_uniform(p, k) * (double)n);
            const double x = data[i], h = 1e-5;
            forward_backward(&s);
            const double analytic = harness_get(&s.run, param->grad, i);
            data[i] = x + h;
            const double up = loss_of(&s);
            data[i] = x - h;
            const double down = loss_of(&s);
            data[i] = x;
            const double numeric = (up - down) / (2 * h);
            if (!(fabs(numeric - analytic) <= 1e-7 * (1 + fabs(numeric)))) {
                fail_msg("d(%s)[%lld] is %.12g, differences give %.12g", param->name, (long long)i,
                         analytic, numeric);
            }
        }
    }
    close_step(&s);
}

/* Rounding alone costs about half of the 16-bit bounds. */
static const struct {
    Precision precision;
    double loss, gradient, update;
} bounds[] = {{PRECISION_FP32, 1e-6, 1e-5, 3e-5},
              {PRECISION_BF16, 1e-2, 3e-2, 1e-2},
              {PRECISION_FP16, 1e-3, 1e-2, 5e-3}};

static inline void check_variant(Config c, Step *want, size_t i, double roundings)
{
    char what[128];
    Step got;
    c.precision = bounds[i].precision;
    snprintf(what, sizeof what, "%s %s %s %s", c.model.name, config_precisions[c.precision],
             config_execs[c.exec], config_attentions[c.attention]);
    open_step(&got, &c, MODE_TRAIN, DT_F32, 2);
    const double loss = loss_of(&got), reference = loss_of(want);
    if (!(fabs(loss - reference) <= bounds[i].loss * reference)) {
        fail_msg("%s: loss %.9g, reference %.9g", what, loss, reference);
    }
    compare_gradients(&got, want, fmax(bounds[i].gradient, roundings * rounding_error(c.precision)),
                      what);
    ASSERT_OK(init_session(&want->run.session, &want->model));
    ASSERT_OK(init_session(&got.run.session, &got.model));
    compare_updates(&got, want, bounds[i].update, what);
    close_step(&got);
}

/* Gradients may be off by as many roundings where that is more than the bounds. */
static inline void check_variants(Config c, double roundings)
{
    static const Exec execs[] = {EXEC_EAGER, EXEC_FUSED};
    static const Attention attentions[] = {ATTENTION_AUTO, ATTENTION_NAIVE, ATTENTION_FUSED,
                                           ATTENTION_FLASH};
    const Config one_batch = as_one_batch(c);
    Step want;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        for (size_t e = 0; e < sizeof execs / sizeof *execs; e++) {
            for (size_t a = 0; a < sizeof attentions / sizeof *attentions; a++) {
                open_step(&want, &one_batch, MODE_TRAIN, DT_F64, 1);
                c.exec = execs[e];
                c.attention = attentions[a];
                check_variant(c, &want, i, roundings);
                close_step(&want);
            }
        }
    }
}
