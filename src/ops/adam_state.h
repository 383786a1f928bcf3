/* The decisions of one optimizer step, for the CPU and for a device (ops/adam_state.c says what they
 * are). */
#pragma once

#include "plan/step_state.h"

#include <math.h>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

HOST_DEVICE static inline void adam_state_skip(double *s)
{
    s[STATE_APPLY] = 0;
    s[STATE_SKIPPED] += 1;
    if (s[STATE_DYNAMIC] == 0) return;
    s[STATE_LOSS_SCALE] *= 0.5;
    s[STATE_GOOD_STEPS] = 0;
}

HOST_DEVICE static inline void adam_state_apply(double *s)
{
    const double t = s[STATE_STEP] += 1;
    s[STATE_APPLY] = 1;
    s[STATE_GRAD_FACTOR] = 1 / s[STATE_LOSS_SCALE];
    if (s[STATE_CLIP] > 0) {
        const double norm = sqrt(s[STATE_SQUARED_NORM]) / s[STATE_LOSS_SCALE];
        const double factor = s[STATE_CLIP] / (norm + 1e-6); /* as PyTorch's clip_grad_norm_ */
        if (factor < 1) s[STATE_GRAD_FACTOR] *= factor;
    }
    s[STATE_STEP_SIZE] = s[STATE_LR] / (1 - pow(STEP_STATE_BETA1, t));
    s[STATE_ROOT_BIAS] = sqrt(1 - pow(STEP_STATE_BETA2, t));
    if (s[STATE_DYNAMIC] == 0) return;
    s[STATE_GOOD_STEPS] += 1;
    if (s[STATE_GOOD_STEPS] < STEP_STATE_GROWTH_STEPS) return;
    s[STATE_LOSS_SCALE] *= 2;
    s[STATE_GOOD_STEPS] = 0;
}

/* Advances the STATE_COUNT numbers of a step state (plan/step_state.h) by one step. */
HOST_DEVICE static inline void adam_state_next(double *state)
{
    if (state[STATE_GUARD] != 0 && state[STATE_NONFINITE] != 0) {
        adam_state_skip(state);
    } else {
        adam_state_apply(state);
    }
}
