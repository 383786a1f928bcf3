/* How far one forward and backward pass in some precision is from the same in float64, and what its
 * 16-bit gradients lose at either end of their range. */
#pragma once

#include "bench/limits/placement.h"
#include "bench/study/reference_step.h"
#include "ops/fp8/quantize.h"

/* Elements of 16-bit tensors: below the normal numbers, at zero, beyond the largest. */
typedef struct StepErrorRange {
    int64_t elements, subnormal, zero, nonfinite;
} StepErrorRange;

/* 8-bit operands: what became 0 or was clipped, and what would without scales. Zeros are not counted. */
typedef struct StepErrorOperands {
    int64_t elements, underflow, saturated, plain_underflow, plain_saturated;
} StepErrorOperands;

typedef struct StepErrorTensor {
    const char *name; /* of the parameter; the reference's */
    double error; /* ||x - reference|| / ||reference||, of the gradient without the loss scale */
    double squared_difference, squared_size;
    int64_t elements;
    int64_t lost;      /* 0, where the reference is not */
    int64_t nonfinite; /* an infinity or no number at all */
} StepErrorTensor;

typedef struct StepError {
    double loss;            /* |x - reference| / reference */
    double logits;          /* relative, as of tensors */
    double gradients;       /* of all gradients together */
    StepErrorTensor *grads; /* of every parameter; owned */
    int n_grads;
    double loss_scale;       /* that the gradients were taken with */
    int overflowed;          /* attempts before it whose gradients were not finite */
    StepErrorRange backward; /* all 16-bit gradients that were written */
    StepErrorOperands operands[QUANTIZE_CLASSES];
} StepError;

/* Runs forward and backward of `config` where `placement` says; with a dynamic loss scale as often as it
 * takes until no gradient overflows. The caller frees it, after a failure too. */
Status step_error_measure(StepError *e, const Config *config, const Placement *placement,
                          const ReferenceStep *reference);
void step_error_free(StepError *e);
