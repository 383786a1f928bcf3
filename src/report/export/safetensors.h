/* The safetensors layout: 8 bytes of length, a JSON header with the place of every tensor, raw data.
 *
 * All tensors are declared first; their data is then appended in the same order, piece by piece. */
#pragma once

#include "base/atomic_file.h"
#include "plan/plan.h"

#include <jansson.h>

typedef struct Safetensors {
    AtomicFile file;
    json_t *header;
    size_t header_bytes;      /* in the file, blanks included */
    size_t declared, written; /* bytes of data */
} Safetensors;

Status safetensors_open(Safetensors *st, const char *path);
Status safetensors_metadata(Safetensors *st, const char *name, const char *value);
Status safetensors_declare(Safetensors *st, const char *name, DType dtype, int n_dims,
                           const int64_t *dim);
Status safetensors_begin_data(Safetensors *st); /* writes the header */
/* Metadata that is known only after the data. A pipe gets none: its header is already written. */
Status safetensors_late_metadata(Safetensors *st, const char *name, const char *value);
Status safetensors_data(Safetensors *st, const void *data, size_t n);
Status safetensors_finish(Safetensors *st); /* ST_FAILED unless every declared byte came */
void safetensors_abandon(Safetensors *st);
