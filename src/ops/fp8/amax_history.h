/* The sizes of quantized numbers from step to step, for the CPU and for a device (ops/fp8/amax_history.c). */
#pragma once

#include <math.h>

enum { AMAX_HISTORY_STEPS = 16 };

/* The operands; outputs are inputs, too, in the same order, but for the last output. */
enum { AMAX_HISTORY_STATE, AMAX_HISTORY_AMAX, AMAX_HISTORY_STEPS_BACK, AMAX_HISTORY_RECENT };

/* Enters this step's amax, unless it is no number, and returns the largest of the last steps. */
static inline float amax_history_next(float *steps, float amax)
{
    float largest = 0;
    if (isfinite(amax)) {
        for (int i = AMAX_HISTORY_STEPS - 1; i > 0; i--) steps[i] = steps[i - 1];
        steps[0] = amax;
    }
    for (int i = 0; i < AMAX_HISTORY_STEPS; i++) largest = fmaxf(largest, steps[i]);
    return largest;
}
