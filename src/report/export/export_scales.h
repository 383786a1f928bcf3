/* The scales of a step in fp8, as an export has them: of every tensor that is quantized,
 * "scale.layers.0.ffn.w13.gradients", what its 8-bit numbers were multiplied by. */
#pragma once

#include "exec/session.h"
#include "report/export/safetensors.h"

enum { EXPORT_SCALE_NAME = 96 };

typedef struct ExportScale {
    char name[EXPORT_SCALE_NAME];
    bool of_gradients;
    int tensor;   /* of the plan */
    size_t bytes; /* of one micro-batch */
    char *values; /* of all of them; owned */
} ExportScale;

typedef struct ExportScales {
    ExportScale *list;
    int n;
    int64_t micro_batches;
} ExportScales;

/* None where the plan quantizes nothing. Freed by the caller, after a failure too. */
Status export_scales_find(ExportScales *scales, const Plan *plan);
void export_scales_free(ExportScales *scales);
Status export_scales_declare(const ExportScales *scales, Safetensors *file, const Plan *plan);
/* A node has just run: takes the scales that it made. */
Status export_scales_take(const ExportScales *scales, Session *session, const Node *node,
                          int64_t micro_batch);
Status export_scales_write(const ExportScales *scales, Safetensors *file);
