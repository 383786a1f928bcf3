/* What the optimizer remembers from step to step: one small float64 tensor that lives on the device,
 * so that a step needs no answer from the host (skipping an overflowed step, changing the loss scale
 * and the bias corrections all happen where the numbers are). */
#pragma once

typedef enum StepState {
    STATE_STEP,         /* t: optimizer steps applied */
    STATE_LOSS_SCALE,   /* d(loss) starts from this */
    STATE_GOOD_STEPS,   /* since the loss scale last changed */
    STATE_SKIPPED,      /* steps not applied because a gradient overflowed */
    STATE_NONFINITE,    /* this step's gradients hold an inf or NaN (written by grad_norm) */
    STATE_SQUARED_NORM, /* of this step's gradients, loss scale included (written by grad_norm) */
    /* written by adam_state for this step: */
    STATE_APPLY,       /* 1, or 0 when the step is skipped */
    STATE_GRAD_FACTOR, /* gradients are multiplied by this: unscaling and clipping */
    STATE_STEP_SIZE,   /* lr / (1 - beta1^t) */
    STATE_ROOT_BIAS,   /* sqrt(1 - beta2^t) */
    /* set before the first step: */
    STATE_LR,
    STATE_CLIP,    /* largest gradient norm, 0 for no clipping */
    STATE_DYNAMIC, /* 1: loss scale follows overflows; 0: it stays */
    STATE_GUARD,   /* 1: a step with a non-finite gradient is skipped */
    /* written by micro_batch, where a step has several: */
    STATE_MICRO_BATCH, /* the one at hand, from 0 */
    STATE_LOSS_SEED,   /* d(loss of the micro-batch): the loss scale by their number */
    STATE_COUNT
} StepState;

#define STEP_STATE_BETA1        0.9
#define STEP_STATE_BETA2        0.999
#define STEP_STATE_EPSILON      1e-8
#define STEP_STATE_DECAY        0.01
#define STEP_STATE_FIRST_SCALE  65536.0 /* as PyTorch's GradScaler: doubled every 2000 good steps */
#define STEP_STATE_GROWTH_STEPS 2000.0
