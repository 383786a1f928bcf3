/* Gradient accumulation: what must hold of a step of several micro-batches, on any backend. */
#pragma once

#include "step_harness.h"

/* Roundings of a precision that gradients may be off by: each micro-batch's is rounded before it is
 * added, and those of k nearly cancel. In bf16 7.7 was seen on a GPU, of k_proj; in fp32 and tf32 the
 * bound of one batch holds. */
static const double accumulate_roundings __attribute__((unused)) = 10;

/* Odd, so that a sum over pairs would show. */
static inline Config accumulate_config(void)
{
    Config c = small_config();
    c.batch = 2;
    c.accumulate = 3;
    return c;
}

/* The token `special` stands in micro-batch `k` alone, and its embedding is infinite; k < 0: nowhere. */
static inline void put_overflow(Step *s, int k)
{
    const int special = (int)s->model.config.model.vocab - 1;
    const int64_t all = plan_elements(&s->model.plan.tensors[s->model.tokens]);
    const int64_t each = all / s->model.config.accumulate, C = s->model.config.model.d_model;
    int32_t *tokens = harness_host(&s->run, s->model.tokens);
    float *table = harness_host(&s->run, s->model.params[0].tensor);
    for (int64_t i = 0; i < all; i++) {
        if (tokens[i] == special) tokens[i] = 0;
    }
    if (k >= 0) tokens[k * each + each / 2] = special;
    for (int64_t i = 0; i < C; i++) table[special * C + i] = INFINITY;
    harness_move(&s->run, true);
}

/* An overflow in any one micro-batch skips the step; the next step begins anew. */
static inline void check_overflow(BackendId backend)
{
    Config c = accumulate_config();
    c.precision = PRECISION_FP16;
    c.loss_scale = 1024; /* fits the gradients */
    c.attention = ATTENTION_FUSED;
    for (int k = -1; k < c.accumulate; k++) {
        Step s;
        open_step_on(&s, &c, MODE_TRAIN, DT_F32, backend, 2);
        const double *state = harness_host(&s.run, s.model.state);
        put_overflow(&s, k);
        run_steps(&s, 1);
        assert_true(state[STATE_SKIPPED] == (k >= 0) && state[STATE_STEP] == (k < 0));
        put_overflow(&s, -1);
        run_steps(&s, 1);
        assert_true(state[STATE_SKIPPED] == (k >= 0) && state[STATE_STEP] == 1 + (k < 0));
        assert_true(isfinite(harness_get(&s.run, s.model.loss, 0)));
        close_step(&s);
    }
}
