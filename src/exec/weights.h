/* A model's parameters from the safetensors files beside its configuration. */
#pragma once

#include "base/safetensors_reader.h"
#include "exec/session.h"
#include "model/file_tensor.h"

/* The weights of what --model was given; NULL is a preset. ST_OK with *out NULL: there are none. ST_USAGE:
 * they are not whole, or only in a form that is not read. */
Status weights_open(SafetensorsReader **out, const char *model);
void weights_close(SafetensorsReader **weights); /* for CLEANUP() */

/* Do the files have every tensor of the list in its shape, and nothing else that a model learns? ST_USAGE:
 * one line that names the file, the tensor and what to do. */
Status weights_check(const SafetensorsReader *weights, const FileTensors *list,
                     const ModelSpec *spec);

/* Replaces every parameter of an initialised session by the files' and runs the setup phase again.
 * ST_USAGE where a tensor is missing or has another shape. */
Status weights_load(Session *s, const Model *model, const FileTensors *list,
                    const SafetensorsReader *weights);
/* Host memory that weights_load() takes. */
size_t weights_bytes(const FileTensors *list);
