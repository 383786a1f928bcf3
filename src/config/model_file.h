/* Models from their own configuration files: what a Hugging Face config.json says, as a ModelSpec.
 *
 * A field that changes the computation and is not supported is refused by name. Fields that do not change a
 * training step (token ids, initializers) are ignored. */
#pragma once

#include "config/model_spec.h"

#include <stddef.h>

/* A configuration that the program brings along. The list ends with a NULL name. */
typedef struct ModelFile {
    const char *name, *text;
} ModelFile;
extern const ModelFile model_file_bundled[];
extern const char *const model_file_names[]; /* of these; ended by NULL */

/* A bundled name, a config.json, or a folder that has one. ST_USAGE: one line that names the file, the field
 * and what to do. */
Status model_file_load(ModelSpec *spec, const char *model);
bool model_file_is_bundled(const char *model);
/* What results call the model that --model names: a bundled name, or that of its folder; no path. */
typedef struct ModelName {
    char s[40];
} ModelName;
ModelName model_file_name(const char *model);
/* Tells a model from another of its name: "mymodel-1f3a", with the beginning of its hash. model_file_load()
 * does it where the name is that of a preset, or of a bundled model that computes otherwise. */
void model_file_add_hash(ModelSpec *spec);
/* model_file_load() from the text of a file; `where` names it in messages. The name is not set. */
Status model_file_parse(ModelSpec *spec, const char *text, size_t n, const char *where);
