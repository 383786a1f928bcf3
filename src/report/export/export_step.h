/* One deterministic run as a safetensors file that any framework can check: inputs, parameters,
 * logits, loss, gradients of the first step, parameters after the last. */
#pragma once

#include "comm/comm.h"

#include <stddef.h>

typedef struct ExportSummary {
    double loss; /* of the first step */
    int64_t parameters, skipped_steps;
    size_t bytes;      /* of all tensors */
    char fp8_left[96]; /* Model.fp8.left */
    bool weights;      /* the parameters are those of the model's files, not random */
} ExportSummary;

/* config->steps optimizer steps on the same batch (mode train). The parameters are those of the
 * safetensors files of `model`, what --model was given (NULL: a preset), where there are such files;
 * otherwise random. Their names are as in those files. ST_NO_MEMORY when it does not fit.
 *
 * All ranks of `comm` (NULL: there is one) call it; the file that rank 0 writes is that of one rank with the
 * batches of all. */
Status export_step(const Config *config, const char *model, const char *path, Comm *comm,
                   ExportSummary *summary);
