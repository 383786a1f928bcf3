/* The header of a safetensors file: which tensors it has, and where. Checked as the reference implementation
 * checks it: every byte after the header is of just one tensor, and has the size that shape and type take. */
#pragma once

#include "base/human.h"
#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { SAFETENSORS_HEADER_DIMS = 8 };

typedef struct SafetensorsEntry {
    const char *name;  /* as long as the header's JSON lives */
    const char *dtype; /* "F32" */
    int n_dims;
    int64_t dim[SAFETENSORS_HEADER_DIMS];
    uint64_t begin, end; /* of its bytes, from the end of the header on */
} SafetensorsEntry;

/* The tensors in the order of their bytes; `size` is how many bytes follow the header. ST_USAGE: one line
 * that names the file, the tensor and what is wrong. The caller frees *entries, after a failure too. */
Status safetensors_header_read(const json_t *header, const char *path, uint64_t size,
                               SafetensorsEntry **entries, size_t *n);

/* A shape as people write it: [2, 3]. */
HumanQuote safetensors_header_shape(int n_dims, const int64_t *dim);
