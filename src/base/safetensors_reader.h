/* Tensors by name from a folder of safetensors files: model.safetensors, or the shards that
 * model.safetensors.index.json lists. The files are not ours: nothing in them is believed unchecked. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SafetensorsReader SafetensorsReader;

/* ST_OK with *out NULL: the folder has no weights. ST_USAGE: one line that names the file and what
 * is wrong. */
Status safetensors_reader_open(SafetensorsReader **out, const char *folder);
void safetensors_reader_close(SafetensorsReader *reader); /* NULL is fine */

/* Is the file at `path` one of those that are read? */
bool safetensors_reader_reads(const SafetensorsReader *reader, const char *path);
bool safetensors_reader_has(const SafetensorsReader *reader, const char *name);
/* The tensor as floats, row after row; F32, F16 and BF16 are read. ST_USAGE where it is missing or
 * has another shape than `dim`. */
Status safetensors_reader_read(const SafetensorsReader *reader, const char *name, int n_dims,
                               const int64_t *dim, float *out);
