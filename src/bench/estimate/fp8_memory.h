/* What 8-bit operands do to the memory of a step: activations are kept for backward in one byte an element,
 * and weights, which lie the other way round for their gradients, come on top. */
#pragma once

#include "bench/limits/placement.h"

/* Bytes alive from the forward pass to backward. */
typedef struct Fp8Kept {
    size_t activations; /* scales among them */
    size_t weights;     /* in 8 bits */
    size_t planned;     /* of the whole step: regions and arena */
} Fp8Kept;

typedef struct Fp8Memory {
    bool known; /* the step is in fp8, and has a backward pass */
    Fp8Kept bf16, fp8;
} Fp8Memory;

/* Of the step whose plan this is, beside the same in bf16. */
Status fp8_memory_make(Fp8Memory *memory, const Placement *placement, const Config *config,
                       const Plan *plan, const MemPlan *mem);
