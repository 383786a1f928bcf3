/* The forward and backward pass of a model in float64 on the CPU: what the error of every precision is
 * measured against. Starts from the same values as every other run of that seed. */
#pragma once

#include "model/model.h"

typedef struct ReferenceStep {
    Model model; /* its parameters' names and shapes; exec fused */
    double loss;
    double *logits; /* [B T, V] */
    double *grads;  /* of all parameters, one after the other in the order of model.params */
    double seconds; /* that it took */
    bool too_large; /* ST_NO_MEMORY by its plan, before anything was allocated */
} ReferenceStep;

/* `threads` for the products; the rest is plain loops. ST_NO_MEMORY says how much is missing
 * of what is there and within config->memory_limit.
 * The caller frees it, after a failure too. */
Status reference_step_run(ReferenceStep *r, const Config *config, int threads);
void reference_step_free(ReferenceStep *r);
