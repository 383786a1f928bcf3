/* The fields of a model's configuration file, by architectures.def. */
#pragma once

#include "config/model_spec.h"

#include <jansson.h>

/* `where` names the file in messages. ST_USAGE: one line that names the field and what to do; `spec` is as
 * it was then. */
Status model_fields_read(ModelSpec *spec, const json_t *root, const char *where);
