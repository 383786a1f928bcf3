/* Tensors by name from a folder of safetensors files: model.safetensors, or the shards that
 * model.safetensors.index.json lists. The files are not ours: nothing in them is believed unchecked. */
#pragma once

#include "base/safetensors_header.h"
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
/* model.safetensors or the index, for messages. */
const char *safetensors_reader_source(const SafetensorsReader *reader);

/* The tensors by number, in the order of their names. */
size_t safetensors_reader_count(const SafetensorsReader *reader);
const SafetensorsEntry *safetensors_reader_entry(const SafetensorsReader *reader, size_t i);
const char *safetensors_reader_path(const SafetensorsReader *reader, size_t i); /* of its file */
/* False: no file has a tensor of this name. */
bool safetensors_reader_find(const SafetensorsReader *reader, const char *name, size_t *i);
/* Do two tensors have the same shape, type and bytes? */
Status safetensors_reader_equal(const SafetensorsReader *reader, size_t a, size_t b, bool *equal);

/* The tensor as floats, row after row; F32, F16 and BF16 are read. ST_USAGE where it is missing or
 * has another shape than `dim`. */
Status safetensors_reader_read(const SafetensorsReader *reader, const char *name, int n_dims,
                               const int64_t *dim, float *out);
