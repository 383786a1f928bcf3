/* The next micro-batch of a step, for the CPU and for a device (ops/micro_batch.c). */
#pragma once

#include "ops/adam_state.h"

/* The one after the micro-batch at hand, of `n`; after the last the first of the next step. */
HOST_DEVICE static inline double micro_batch_next(const double *state, double n)
{
    const double next = state[STATE_MICRO_BATCH] + 1;
    return next < n ? next : 0;
}

HOST_DEVICE static inline void micro_batch_begin(double *state, double micro_batch, double n)
{
    state[STATE_MICRO_BATCH] = micro_batch;
    state[STATE_LOSS_SEED] = state[STATE_LOSS_SCALE] / n;
}
