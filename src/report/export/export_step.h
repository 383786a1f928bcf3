/* One deterministic run as a safetensors file that any framework can check: inputs, parameters,
 * logits, loss, gradients of the first step, parameters after the last. */
#pragma once

#include "config/config.h"

#include <stddef.h>

typedef struct ExportSummary {
    double loss; /* of the first step */
    int64_t parameters, skipped_steps;
    size_t bytes; /* of all tensors */
} ExportSummary;

/* config->steps optimizer steps on the same batch (mode train). ST_NO_MEMORY when it does not fit. */
Status export_step(const Config *config, const char *path, ExportSummary *summary);
