/* The families as the rows of architectures.def and parameter_names.def say them: for the files that
 * include those. */
#pragma once

#include "config/architecture.h"

enum {
    LLAMA = FAMILY_LLAMA,
    NEOX = FAMILY_NEOX,
    GPT2 = FAMILY_GPT2,
    MIXTRAL = FAMILY_MIXTRAL,
    QWEN3_MOE = FAMILY_QWEN3_MOE
};
